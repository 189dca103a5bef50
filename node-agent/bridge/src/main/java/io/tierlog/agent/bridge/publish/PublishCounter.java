/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

/** What a publisher counts. */
public enum PublishCounter {
    BATCHES("tierlog_publish_batches_total", "Batches that were published"),
    REPLAYS("tierlog_publish_replays_total", "Replays that were asked for"),
    REPLAYED("tierlog_publish_replayed_total", "Batches that were sent in replays"),
    REFUSED("tierlog_publish_replays_refused_total",
            "Replays left without an answer: too many at once, no request that can be read, or no cursor in the log"),
    LEFT("tierlog_publish_replays_left_total", "Replays that ended early: the subscriber has gone or reads nothing, or the log has lost the batches"),
    STREAMED("tierlog_publish_streamed_total", "Batches that were sent as server-sent events"),
    POSTED("tierlog_publish_posted_total", "Batches that webhooks have taken"),
    POST_FAILURES("tierlog_publish_post_failures_total", "Posts that a webhook did not take; they are posted again"),
    PLACES_LOST("tierlog_publish_places_lost_total",
            "Times that a webhook was too far behind, or the log had lost what comes next: it goes on with later batches");

    private final String metric;
    private final String help;

    PublishCounter(String metric, String help) {
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
