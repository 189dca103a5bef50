/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

/** The latencies of the report, in its order. */
enum Part {
    /** Produce, consume. */
    HOP("hop", "bare hop"),
    /** Produce, consume, produce, consume: the lower bound of any controller on Kafka. */
    RELAY("relay", "bare relay"),
    /** An empty Kafka Streams application, its output read before the commit. */
    PASS_THROUGH("pass_through", "empty pass-through, read before the commit"),
    /** An empty Kafka Streams application, its output read after the commit. */
    PASS_THROUGH_AFTER_COMMIT("pass_through_after_commit", "empty pass-through, read after the commit"),
    /** Submit to command, commands sent directly: not part of the transaction. */
    DIRECT("tierlog_direct", "Tierlog, commands sent directly"),
    /** The same with hosts that are full, so that relief runs; commands delivered as in the part that the ratios are about. */
    FULL("tierlog_full", "Tierlog, hosts full"),
    /** Submit to command, commands in the transaction, read before it commits. */
    TRANSACTIONAL("tierlog_transactional", "Tierlog, in the transaction, read before the commit"),
    /** Submit to command, commands in the transaction, read after it committed. */
    AFTER_COMMIT("tierlog_after_commit", "Tierlog, in the transaction, read after the commit");

    private final String key;
    private final String title;

    Part(String key, String title) {
        this.key = key;
        this.title = title;
    }

    /** Its name for programs. */
    String key() {
        return key;
    }

    /** Its name for people. */
    String title() {
        return title;
    }
}
