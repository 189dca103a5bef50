/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

/** What an agent counts: everything that is not an event of its own, and a few sums. */
public enum AgentCounter {
    SUBMITTED,
    ANSWERED_AT_ONCE,
    WAITS_EXPIRED,
    CALLS_REFUSED,
    OFFERED_BLOCKS,
    LOADED_BLOCKS,
    FETCHED_BLOCKS,
    SAVED_BLOCKS,
    BACKED_UP_BLOCKS,
    EVICTED_BLOCKS,
    LAST_COPIES_EVICTED,
    CHECKSUM_FAILURES,
    COMMANDS_RUN,
    COMMANDS_REPEATED,
    COMMANDS_REFUSED,
    /** For another incarnation or node, or before registration. */
    COMMANDS_IGNORED,
    /** Completions of units that are not under way: late, repeated, or never begun. */
    LATE_COMPLETIONS,
    /** The store could not be asked what it has. */
    PROBES_UNANSWERED,
    WRITE_BACKS_DEFERRED,
    BLOCKS_JOINED,
    PAGES_QUARANTINED,
    PINS_EXPIRED
}
