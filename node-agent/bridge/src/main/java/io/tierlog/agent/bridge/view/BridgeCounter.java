/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

/** What a bridge counts. */
public enum BridgeCounter {
    BATCHES("tierlog_bridge_batches_total", "Batches of events that were applied"),
    STORED("tierlog_bridge_stored_total", "Blocks that engines began to hold"),
    REMOVED("tierlog_bridge_removed_total", "Blocks that engines hold no longer"),
    UNKNOWN_EVENTS("tierlog_bridge_unknown_events_total", "Events of unknown types, left out"),
    UNKNOWN_FIELDS("tierlog_bridge_unknown_fields_total", "Fields that no known dialect has, left out"),
    UNKNOWN_MEDIA("tierlog_bridge_unknown_media_total", "Events about media that stand for no tier, left out"),
    MALFORMED("tierlog_bridge_malformed_total", "Payloads that cannot be read; each is in the dead letters"),
    FOREIGN_FRAMES("tierlog_bridge_foreign_frames_total", "Messages whose frames are none of an engine's, and replays that name another rank"),
    REPEATS("tierlog_bridge_repeats_total", "Batches that came again with the same content"),
    STALE("tierlog_bridge_stale_total", "Batches of an LMCache process that a later one has replaced, left out"),
    RESTARTS("tierlog_bridge_restarts_total", "Publishers that began to count again"),
    GAPS("tierlog_bridge_gaps_total", "Times that batches were lost for good"),
    LOST_BATCHES("tierlog_bridge_lost_batches_total", "Batches that were lost for good"),
    REPLAYS("tierlog_bridge_replays_total", "Replays that were asked for"),
    REPLAYED("tierlog_bridge_replayed_total", "Batches that came by a replay"),
    UNANSWERED("tierlog_bridge_replays_unanswered_total", "Replays that could not be asked for: their address cannot be used now"),
    SOURCE_FAILURES("tierlog_bridge_source_failures_total", "Times that a source could not be opened, or failed: it is opened again"),
    OVER_LIMIT("tierlog_bridge_over_limit_total", "Blocks, namespaces and publishers beyond a bound, left out"),
    REFUSED_REQUESTS("tierlog_bridge_refused_requests_total", "Requests with LMCache's events that got 503, since too much waits"),
    ACCESSED("tierlog_bridge_accessed_total", "Blocks that LMCache has reported as used"),
    CAPACITIES("tierlog_bridge_capacities_total", "Capacities that LMCache has reported; no foreign node has one"),
    EXPIRED_HINTS("tierlog_bridge_expired_hints_total", "Blocks whose removal has no event, and that were not named again for too long");

    private final String metric;
    private final String help;

    BridgeCounter(String metric, String help) {
        this.metric = metric;
        this.help = help;
    }

    /** Its name as a metric. */
    public String metric() {
        return metric;
    }

    /** For people who read the metric. */
    public String help() {
        return help;
    }
}
