/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.ops.bench.BenchException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * The progress of an application in a topic, by the offsets that it has committed. The broker reports them, so that watching costs the application
 * nothing. One thread at a time.
 */
final class Backlog implements Progress {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final long LOOK_MS = 10;

    private final Environment environment;
    private final String group;
    private final Map<TopicPartition, OffsetSpec> partitions;

    Backlog(Environment environment, String group, String topic) {
        this(environment, group, topic, environment.config().shape().partitions());
    }

    Backlog(Environment environment, String group, String topic, int partitions) {
        this.environment = environment;
        this.group = group;
        this.partitions = IntStream.range(0, partitions)
                .boxed()
                .collect(Collectors.toMap(number -> new TopicPartition(topic, number), _ -> OffsetSpec.latest()));
    }

    /** Those that are committed as processed. */
    @Override
    public long done() throws InterruptedException {
        try {
            Map<TopicPartition, OffsetAndMetadata> offsets = environment
                    .admin()
                    .listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get();
            long sum = 0;
            for (TopicPartition partition : partitions.keySet()) {
                OffsetAndMetadata offset = offsets.get(partition);
                sum += offset == null ? 0 : offset.offset();
            }
            return sum;
        } catch (ExecutionException failure) {
            throw unanswered(failure);
        }
    }

    @Override
    public long end() throws InterruptedException {
        try {
            return environment.admin().listOffsets(partitions).all().get().values().stream()
                    .mapToLong(offset -> offset.offset())
                    .sum();
        } catch (ExecutionException failure) {
            throw unanswered(failure);
        }
    }

    /** Waits until the topic, which was just made, can be written to. */
    void awaitLeaders() throws InterruptedException {
        end();
    }

    /** Waits until the application has committed all records, and no record was added meanwhile. */
    void awaitNone(Application application) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            long end = end();
            // A controller appends ticks for ever: this waits for the records that were there before.
            while (done() < end) {
                pause(application, deadline);
            }
            if (end() - end <= partitions.size()) {
                return;
            }
        }
    }

    private void pause(Application application, long deadlineNanos) throws InterruptedException {
        application.check();
        if (System.nanoTime() > deadlineNanos) {
            throw Progress.stuck("the group " + group, done(), end());
        }
        TimeUnit.MILLISECONDS.sleep(LOOK_MS);
    }

    private static BenchException unanswered(ExecutionException failure) {
        return BenchException.failed("the broker did not answer: " + failure.getCause(), "look at the broker").causedBy(failure);
    }
}
