/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

/** The device of the engines cannot be used; the message says what to do. */
public final class DeviceUnavailableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DeviceUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
