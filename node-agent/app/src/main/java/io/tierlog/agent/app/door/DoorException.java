/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.door;

/** The door cannot be opened; the message says why. */
public final class DoorException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DoorException(String message, Throwable cause) {
        super(message, cause);
    }
}
