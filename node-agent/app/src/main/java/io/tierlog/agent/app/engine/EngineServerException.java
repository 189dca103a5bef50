/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

/** The engine API cannot listen; the message has the reason. */
public final class EngineServerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    EngineServerException(String message, Throwable cause) {
        super(message, cause);
    }
}
