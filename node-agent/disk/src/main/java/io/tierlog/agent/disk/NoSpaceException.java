/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.io.IOException;

/** The disk, or what this process may have of it, is full. Drop blocks, or give the tier less capacity than the disk has. */
public final class NoSpaceException extends IOException {
    private static final long serialVersionUID = 1L;

    public NoSpaceException(String message) {
        super(message);
    }
}
