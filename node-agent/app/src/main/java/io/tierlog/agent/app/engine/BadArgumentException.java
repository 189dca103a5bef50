/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

/** An argument of a call is wrong; the message names it. */
final class BadArgumentException extends Exception {
    private static final long serialVersionUID = 1L;

    BadArgumentException(String message) {
        super(message);
    }
}
