/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

/** The host pool does not fit; the message says what to change. Nothing is left allocated. */
public final class HostMemoryException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** With what to change. */
    public HostMemoryException(String message) {
        super(message);
    }
}
