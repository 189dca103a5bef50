/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

/** The door cannot be opened; the message says why. */
public final class EngineServerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    EngineServerException(String message, Throwable cause) {
        super(message, cause);
    }
}
