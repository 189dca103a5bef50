/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas;

import org.jspecify.annotations.Nullable;

/** What senders of heartbeats make of the node session. Without state. */
public final class HeartbeatGap {
    /** Two heartbeats in a row may be late before the node counts as lost. */
    private static final int HEARTBEATS = 3;

    /** What an idle node writes is little then, and its last report is not old. */
    private static final int MOST_LOOKS = 5;

    private HeartbeatGap() {}

    /**
     * The longest time between two heartbeats that report the same.
     *
     * @param sessionMs time without an event after which the node counts as lost, in milliseconds; null when it is not known
     * @param lookMs time between two moments at which a heartbeat can be sent, in milliseconds, 1 or more
     * @return milliseconds, {@code lookMs} or more
     */
    public static long ofMs(@Nullable Long sessionMs, long lookMs) {
        return sessionMs == null ? lookMs : Math.max(lookMs, Math.min(sessionMs / HEARTBEATS, MOST_LOOKS * lookMs));
    }
}
