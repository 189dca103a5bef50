/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.api;

/** Counters of an agent: what is not an event, and a few sums. */
public enum AgentCounter {
    SUBMITTED,
    ANSWERED_AT_ONCE,
    WAITS_EXPIRED,
    CALLS_REFUSED,
    OFFERED_BLOCKS,
    LOADED_BLOCKS,
    FETCHED_BLOCKS,
    /** Blocks that came from the disk ahead of requests. */
    PROMOTED_BLOCKS,
    /** Blocks that reads found on the disk alone and requested a promotion for. */
    PROMOTIONS_ASKED,
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
    /** Probes that the store did not answer. */
    PROBES_UNANSWERED,
    WRITE_BACKS_DEFERRED,
    BLOCKS_JOINED,
    PAGES_QUARANTINED,
    /** Blocks that copies have written to the disk. */
    COPIED_BLOCKS,
    /** Blocks that copies have written to the store. */
    COPIED_TO_STORE,
    /** Blocks whose bytes have gone through a page of the agent's own. */
    BOUNCED_BLOCKS,
    /** Pages of the agent's own that a transfer of unknown outcome has kept. */
    BOUNCE_PAGES_QUARANTINED,
    /** Copies whose port answered for other blocks than requested. */
    COPY_RESULT_MISMATCHES,
    /** Blocks that were copied while their source was lost: the copy was dropped. */
    COPY_SOURCES_LOST,
    /** Of the fetched blocks those that came from the disk. */
    FETCHED_FROM_DISK,
    /** Blocks that the disk was to give and did not: read from the store. */
    DISK_READS_FALLEN_BACK,
    /** Of the fetched blocks those that came from another node. */
    FETCHED_FROM_PEERS,
    /** Blocks that another node did not give: read from the store instead. */
    PEER_READS_FALLEN_BACK,
    /** Questions to the directory which other nodes have blocks, without an answer in time. */
    FINDS_UNANSWERED,
    /** Blocks that were sent to other nodes. */
    SENT_BLOCKS,
    /** Reads of other nodes that got the answer to try again. */
    PEER_READS_RETRIED,
    /** Placements that the disk held at start and the agent reported to the log. */
    DISK_COPIES_RECOVERED,
    /** Copies that the disk held at start and that have no place in the tier: of another block size, or beyond its capacity. */
    DISK_COPIES_GIVEN_UP,
    /** Drops that the disk has to repeat. */
    DISK_DROPS_REPEATED,
    /** Times that the agent was declared lost and registered again. */
    REJOINED,
    PINS_EXPIRED,
    /** Reservations of engines that came to their end unused. */
    LEASES_EXPIRED
}
