/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.ops.bench.report.BenchException;
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
final class Backlog {
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

    /**
     * The progress in the records that are there now. What is appended later is not counted, ticks for one: in a partition that is done they would
     * stand for records that another partition still has.
     */
    Progress present() throws InterruptedException {
        Map<TopicPartition, Long> ends = ends();
        return new Progress() {
            @Override
            public long done() throws InterruptedException {
                Map<TopicPartition, OffsetAndMetadata> offsets = committed();
                long sum = 0;
                for (Map.Entry<TopicPartition, Long> end : ends.entrySet()) {
                    OffsetAndMetadata offset = offsets.get(end.getKey());
                    sum += offset == null ? 0 : Math.min(offset.offset(), end.getValue());
                }
                return sum;
            }

            @Override
            public long end() {
                return sum(ends);
            }
        };
    }

    /** Records that are in the topic, all partitions together. */
    long end() throws InterruptedException {
        return sum(ends());
    }

    private static long sum(Map<TopicPartition, Long> ends) {
        return ends.values().stream().mapToLong(Long::longValue).sum();
    }

    private Map<TopicPartition, OffsetAndMetadata> committed() throws InterruptedException {
        try {
            return environment.admin().listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
        } catch (ExecutionException failure) {
            throw unanswered(failure);
        }
    }

    private Map<TopicPartition, Long> ends() throws InterruptedException {
        try {
            return environment.admin().listOffsets(partitions).all().get().entrySet().stream()
                    .collect(Collectors.toMap(Map.Entry::getKey, end -> end.getValue().offset()));
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
            // A controller appends ticks for ever: this waits for the records that were there before.
            Progress present = present();
            while (present.done() < present.end()) {
                pause(application, present, deadline);
            }
            if (end() - present.end() <= partitions.size()) {
                return;
            }
        }
    }

    private void pause(Application application, Progress present, long deadlineNanos) throws InterruptedException {
        application.check();
        if (System.nanoTime() > deadlineNanos) {
            throw Progress.stuck("the group " + group, present.done(), present.end());
        }
        TimeUnit.MILLISECONDS.sleep(LOOK_MS);
    }

    private static BenchException unanswered(ExecutionException failure) {
        return BenchException.failed("the broker did not answer: " + failure.getCause(), "look at the broker").causedBy(failure);
    }
}
