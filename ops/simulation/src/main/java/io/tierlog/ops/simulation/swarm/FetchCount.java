/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import java.util.Locale;

/** What is counted of promotions, of reads across nodes and of deletions from the store in an episode. */
public enum FetchCount {
    PROMOTING_EPISODES("episodes in which something was promoted"),
    STARTED("blocks of probes whose promotion began at once"),
    QUEUED("blocks of probes that waited for their turn"),
    JOINED("blocks of probes that were on their way already"),
    DUPLICATE("blocks of probes that were promoted not long ago"),
    COOLDOWN("blocks of probes whose promotion failed not long ago"),
    PRESSURE("blocks of probes without capacity on the host"),
    RESIDENT("blocks of probes that were in memory"),
    NOT_ON_DISK("blocks of probes that the disk did not have"),
    QUEUE_FULL("blocks of probes that found the queue full"),
    NO_QUOTA("blocks of probes whose group had no quota left"),
    OF_DRAINING("blocks of probes to a node that drained"),
    DISABLED("blocks of probes while the policy forbade promotion"),
    PAUSED("times that all waiting promotions were dropped"),
    PROMOTED_HIT("promoted blocks that were used"),
    PROMOTED_HIT_WAITED("promoted blocks that a request waited for"),
    PROMOTED_EVICTED_BEFORE_USE("promoted blocks that left before any use"),
    MISSED_RACE("promoted blocks that were asked for before they were there"),
    PROMOTION_FAILED("promotions of blocks that failed"),
    READING_EPISODES("episodes in which a node read from another"),
    GRANTED("reads across nodes that were granted"),
    GRANTED_FROM_DISK("of these, after a promotion"),
    REFUSED("reads across nodes that were refused"),
    READ("grants that ended with all blocks read"),
    READ_FAILED("grants that ended otherwise"),
    EXPIRED("grants that ended by their time"),
    DELETED_OBJECTS("objects that decisions deleted from the store"),
    KEPT_OBJECTS("objects that deletions did not take");

    private final String meaning;

    FetchCount(String meaning) {
        this.meaning = meaning;
    }

    /** What it is, as a sentence without its end. */
    public String meaning() {
        return meaning;
    }

    /** As it is printed. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
