/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

/** The file an engine gave as its device memory cannot be used; the message is for the engine's people. */
public final class DeviceFileException extends Exception {
    private static final long serialVersionUID = 1L;

    DeviceFileException(String message) {
        super(message);
    }
}
