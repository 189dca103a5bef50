/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

/** The peer API cannot listen. */
public final class PeerServerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    PeerServerException(String message, Throwable cause) {
        super(message, cause);
    }
}
