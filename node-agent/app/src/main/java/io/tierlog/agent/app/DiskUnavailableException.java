/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import java.io.IOException;

/** The disk tier cannot be opened: the directory is in use by another process, is of something else, or cannot be read or made. */
public final class DiskUnavailableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DiskUnavailableException(String message, IOException cause) {
        super(message, cause);
    }
}
