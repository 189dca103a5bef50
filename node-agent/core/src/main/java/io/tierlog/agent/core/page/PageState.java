/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.page;

/**
 * The life of a host page. Every change goes through this table; any other one is a bug.
 *
 * <pre>
 *            +--------------------------------------------+
 *            v                                            |
 *          FREE --> RESERVED --> FILLING --> SERVING --> LEAVING
 *            ^         |           |  |
 *            +---------+-----------+  +--> QUARANTINED
 *            +-------------------------------------+
 * </pre>
 */
public enum PageState {
    /** Belongs to nobody. */
    FREE,
    /** Promised to an operation that has not begun to fill it. */
    RESERVED,
    /** Being written, or written and not published yet. */
    FILLING,
    /** Its block can be found and read. */
    SERVING,
    /** Found by nobody any more; kept while a pin is on it. */
    LEAVING,
    /** Its last transfer has an unknown outcome: bytes may still land in it. */
    QUARANTINED;

    /** Whether a page may go from this state to {@code next}. */
    public boolean mayBecome(PageState next) {
        return switch (this) {
            case FREE -> next == RESERVED;
            case RESERVED -> next == FILLING || next == FREE;
            case FILLING -> next == SERVING || next == FREE || next == QUARANTINED;
            case SERVING -> next == LEAVING;
            case LEAVING, QUARANTINED -> next == FREE;
        };
    }
}
