/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.Causes;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the clocks of the only instance of a controller, and waits until every event has its committed decisions.
 *
 * <p>Decisions make messages, the relay makes events of these, and a clock ticks where a node must be cleaned up. So it looks in this order: all
 * events up to an end are decided; since then no clock needed a tick, and every committed message was carried; and the end is still the same. No
 * other part may append events meanwhile, or there is no such end. For one thread; {@link #close} ends the wait.
 */
final class LogRest implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LogRest.class);
    private static final long LOOK_AGAIN_MS = 50;
    private static final Duration ANSWER = Duration.ofSeconds(2);

    private final ControllerConfig config;
    private final ClockEnds clocks;
    private final Relay relay;
    private final List<TopicPartition> events;
    private final List<TopicPartition> messages;
    private final CountDownLatch closing = new CountDownLatch(1);
    /** Ends of the events that were found decided in the last look, and when they first were; empty when they were not. */
    private Map<TopicPartition, Long> decided = Map.of();
    private long decidedNs;

    LogRest(ControllerConfig config, int partitions, ClockEnds clocks, Relay relay) {
        this.config = config;
        this.clocks = clocks;
        this.relay = relay;
        this.events = partitions(config.topics().events(), partitions);
        this.messages = partitions(config.topics().messages(), partitions);
    }

    private static List<TopicPartition> partitions(String topic, int count) {
        return IntStream.range(0, count).mapToObj(partition -> new TopicPartition(topic, partition)).toList();
    }

    /** Waits for that; false when it did not come about within {@code limit}, and the 2 s of an answer, or this was closed. */
    boolean run(Duration limit) throws InterruptedException {
        long untilNs = System.nanoTime() + limit.toNanos();
        clocks.begin();
        relay.watch();
        int answerMs = Math.toIntExact(ANSWER.toMillis());
        Admin admin = Admin.create(config.kafka().client(Map.of("default.api.timeout.ms", answerMs, "request.timeout.ms", answerMs)));
        String trouble = "";
        try {
            while (!closing.await(LOOK_AGAIN_MS, TimeUnit.MILLISECONDS) && System.nanoTime() - untilNs < 0) {
                try {
                    if (isAtRest(admin)) {
                        return true;
                    }
                } catch (ExecutionException e) {
                    trouble = Causes.of(e);
                    decided = Map.of();
                }
            }
        } finally {
            admin.close(Duration.ZERO);
        }
        if (!trouble.isEmpty()) {
            LOG.warn("the brokers did not always answer while the log was brought to rest: {}", trouble);
        }
        return false;
    }

    /** One look; true after two or more. */
    private boolean isAtRest(Admin admin) throws InterruptedException, ExecutionException {
        Map<TopicPartition, Long> ends = ends(admin, events, IsolationLevel.READ_UNCOMMITTED);
        if (!areDecided(admin, ends)) {
            decided = Map.of();
            return false;
        }
        if (!ends.equals(decided)) {
            decided = ends;
            decidedNs = System.nanoTime();
            return false;
        }
        return clocks.restedSince(decidedNs) == events.size()
                && relay.hasCarried(ends(admin, messages, IsolationLevel.READ_COMMITTED))
                && ends(admin, events, IsolationLevel.READ_UNCOMMITTED).equals(decided);
    }

    private static Map<TopicPartition, Long> ends(Admin admin, List<TopicPartition> partitions, IsolationLevel isolation)
            throws InterruptedException, ExecutionException {
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        partitions.forEach(partition -> latest.put(partition, OffsetSpec.latest()));
        Map<TopicPartition, Long> ends = new HashMap<>();
        for (Map.Entry<TopicPartition, ListOffsetsResultInfo> end :
                admin.listOffsets(latest, new ListOffsetsOptions(isolation)).all().get().entrySet()) {
            ends.put(end.getKey(), end.getValue().offset());
        }
        return ends;
    }

    /** The offsets of the group are committed with the decisions, in one transaction. */
    private boolean areDecided(Admin admin, Map<TopicPartition, Long> ends) throws InterruptedException, ExecutionException {
        Map<TopicPartition, OffsetAndMetadata> committed =
                admin.listConsumerGroupOffsets(config.applicationId()).partitionsToOffsetAndMetadata().get();
        return ends.entrySet().stream().allMatch(end -> {
            OffsetAndMetadata next = committed.get(end.getKey());
            return end.getValue() <= (next == null ? 0 : next.offset());
        });
    }

    @Override
    public void close() {
        closing.countDown();
    }
}
