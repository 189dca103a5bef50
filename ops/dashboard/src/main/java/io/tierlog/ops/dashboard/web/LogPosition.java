/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import java.util.Map;

/**
 * How the reader of the log is.
 *
 * @param state of Kafka Streams
 * @param lag records that are not read yet, by {@code TOPIC-PARTITION}
 * @param brokersSilentMs for how long the brokers have taken no heartbeat
 * @param waitsFor why the reader stands still, in plain words; empty when it does not
 */
public record LogPosition(String state, Map<String, Long> lag, long brokersSilentMs, String waitsFor) {
    /** The state in which it has its partitions and their rows. */
    static final String RUNNING = "RUNNING";

    /** Records that are not read yet. */
    public long behind() {
        return lag.values().stream().mapToLong(Long::longValue).sum();
    }
}
