/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import java.io.IOException;

/** A disk tier cannot be opened: it is in use, of another kind, or damaged where it must not be. The message says what to do. */
public final class DiskTierException extends IOException {
    private static final long serialVersionUID = 1L;

    public DiskTierException(String message) {
        super(message);
    }
}
