/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.page;

/**
 * The states of a host page. Every change goes through this table; any other change is a bug.
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
    /** Free. */
    FREE,
    /** Promised to an operation that has not begun to fill it. */
    RESERVED,
    /** Being written, or written and not published yet. */
    FILLING,
    /** Its block can be found and read. */
    SERVING,
    /** No lookup finds it; it is kept while a pin is on it. */
    LEAVING,
    /** Its last transfer has an unknown outcome: bytes may still land in it. */
    QUARANTINED;

    /** Whether a page may change from this state to {@code next}. */
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
