/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.disk;

/**
 * The states of a placement on the disk. Every change goes through this table; any other change is a bug.
 *
 * <pre>
 *   (new) --> RESERVED --> WRITING --> SERVING --> LEAVING --> (gone)
 *                |          |   |         ^ |         ^
 *              (gone)    (gone) |         | |         |
 *                               |         | v         |
 *   (at start) -----------------|-----> FOUND         |
 *                               +--> QUARANTINED -----+
 * </pre>
 */
public enum DiskState {
    /** The disk held it when the process started, or when the epoch of the agent ended; the log does not have it yet. */
    FOUND,
    /** Promised to an operation that has not begun to write it. */
    RESERVED,
    /** Being written, or written and not published yet. */
    WRITING,
    /** Can be found and read. */
    SERVING,
    /** No lookup finds it; its bytes have not left the disk yet. */
    LEAVING,
    /** Its write has an unknown outcome: bytes may still come down. */
    QUARANTINED;

    /** Whether a placement may change from this state to {@code next}. */
    public boolean mayBecome(DiskState next) {
        return switch (this) {
            case FOUND -> next == SERVING;
            case RESERVED -> next == WRITING;
            case WRITING -> next == SERVING || next == QUARANTINED;
            case SERVING -> next == LEAVING || next == FOUND;
            case QUARANTINED -> next == LEAVING;
            case LEAVING -> false;
        };
    }

    /** Whether a copy may be forgotten in this state. */
    public boolean mayGo() {
        return this == RESERVED || this == WRITING || this == LEAVING;
    }
}
