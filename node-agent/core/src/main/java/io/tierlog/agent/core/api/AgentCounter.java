/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.api;

/** Counters of an agent: what is not an event, and a few sums. Each is a metric with the text given here. */
public enum AgentCounter {
    SUBMITTED("Requests that engines submitted"),
    PROMPTS_CUT("Requests whose prompt has more blocks than an attempt takes: the first ones were taken"),
    PROMPT_BLOCKS_NOT_TAKEN("Whole blocks of those prompts that were not taken: they are not looked up"),
    SEALED_BLOCKS_NOT_TAKEN("Sealed blocks that were not taken, since they come after those that an attempt takes: they are not saved"),
    ANSWERED_AT_ONCE("Requests that were answered without a wait"),
    WAITS_EXPIRED("Requests whose wait for a fetch was over before the fetch"),
    CONTROLLER_BEHIND("Requests that did not wait, since the controller answered later than they would have waited"),
    CALLS_REFUSED("Calls of engines that were refused"),
    OFFERED_BLOCKS("Blocks on the host that were offered to requests"),
    LOADED_BLOCKS("Blocks that came from the host to the device"),
    FETCHED_BLOCKS("Blocks that prefetches brought to the host"),
    PROMOTED_BLOCKS("Blocks that came from the disk ahead of requests"),
    PROMOTIONS_ASKED("Blocks that reads found on the disk alone and requested a promotion for"),
    SAVED_BLOCKS("Blocks that came from the device to the host"),
    BACKED_UP_BLOCKS("Blocks that backups wrote to the store"),
    DELETED_OBJECTS("Objects that this agent deleted from the store for a shard"),
    EVICTED_BLOCKS("Blocks that left the host under pressure"),
    LAST_COPIES_EVICTED("Of the evicted blocks those that were not known to be held anywhere else"),
    CHECKSUM_FAILURES("Host pages whose bytes were not those that were written"),
    COMMANDS_RUN("Commands that were run"),
    COMMANDS_REPEATED("Commands that came again and were answered from the journal"),
    COMMANDS_REFUSED("Commands that were refused, with the reason on the log"),
    COMMANDS_IGNORED("Commands for another incarnation or node, or before registration"),
    LATE_COMPLETIONS("Completions of units that are not under way: late, repeated, or never begun"),
    PROBES_UNANSWERED("Probes that the store did not answer"),
    UNITS_OVERDUE("Units that the store, the disk or another node did not end in time; their pages are in quarantine until it does"),
    WRITE_BACKS_DEFERRED("Write-backs that waited for free host pages"),
    BLOCKS_JOINED("Blocks of an operation that another operation was bringing already"),
    PAGES_QUARANTINED("Host pages whose transfer had an unknown outcome"),
    COPIED_BLOCKS("Blocks that copies wrote to the disk"),
    COPIED_TO_STORE("Blocks that copies wrote to the store"),
    BOUNCED_BLOCKS("Blocks whose bytes went through a page of the agent's own"),
    BOUNCE_PAGES_QUARANTINED("Pages of the agent's own that a transfer of unknown outcome kept"),
    COPY_RESULT_MISMATCHES("Copies whose port answered for other blocks than requested"),
    COPY_SOURCES_LOST("Blocks that were copied while their source was lost: the copy was dropped"),
    FETCHED_FROM_DISK("Of the fetched blocks those that came from the disk"),
    DISK_READS_FALLEN_BACK("Blocks that the disk was to give and did not: read from the store"),
    FETCHED_FROM_PEERS("Of the fetched blocks those that came from another node"),
    PEER_READS_FALLEN_BACK("Blocks that another node did not give: read from the store instead"),
    FINDS_UNANSWERED("Questions to the directory which other nodes have blocks, without an answer in time"),
    SENT_BLOCKS("Blocks that were sent to other nodes"),
    PEER_READS_RETRIED("Reads of other nodes that got the answer to try again"),
    DISK_COPIES_RECOVERED("Placements that the disk held at start and the agent reported to the log"),
    DISK_COPIES_GIVEN_UP("Copies that the disk held at start and that have no place in the tier"),
    DISK_DROPS_REPEATED("Drops that the disk has to repeat"),
    REJOINED("Times that the agent was declared lost, or its events were, and it registered again"),
    PINS_EXPIRED("Pins on host and device pages that ended because their time was over"),
    LEASES_EXPIRED("Reservations of engines that came to their end unused");

    private final String help;

    AgentCounter(String help) {
        this.help = help;
    }

    /** What it counts, for people who read the metric. */
    public String help() {
        return help;
    }
}
