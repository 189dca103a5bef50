/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import io.tierlog.events.Codec;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.PartitionJobs;
import io.tierlog.schemas.head.Stretch;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.ToLongFunction;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Checks that a log is what its signed heads say: their signatures and their order, then the records of each stretch that the log still has, and that
 * no partition ends before the last head says. Partitions are read side by side. Memory: the stretches of {@value #MOST_STRETCHES} partitions and
 * heads, and one read for each thread. One instance checks once.
 */
public final class HeadCheck {
    private static final int MOST_STRETCHES = 100_000;

    private final LogSource source;
    private final Topics topics;
    private final HeadRecords records;
    private final HeadKeys keys;
    private final int threads;
    private final long mostAgeMs;
    private final HeadFindings findings = new HeadFindings();
    private final Map<TopicPartition, PartitionCheck> partitions = new LinkedHashMap<>();

    /**
     * @param keys public keys with which heads were signed
     * @param threads partitions read at a time, 1 or more
     * @param mostAgeMs age of the last head from which on it is a finding, milliseconds; {@link Long#MAX_VALUE} for never
     */
    public HeadCheck(LogSource source, Topics topics, Codec codec, HeadKeys keys, int threads, long mostAgeMs) {
        this.source = source;
        this.topics = topics;
        this.records = new HeadRecords(topics, codec, keys);
        this.keys = keys;
        this.threads = threads;
        this.mostAgeMs = mostAgeMs;
    }

    /**
     * Checks the heads, all of them or those after one.
     *
     * @param from the last head of an earlier check, which must still be there; empty to check all
     * @throws AuditException when the log cannot be read, or has no topic of heads
     */
    public HeadReport check(Optional<HeadReport.Seen> from) throws InterruptedException {
        for (String topic : List.of(topics.events(), topics.decisions())) {
            for (int p = 0; p < source.partitions(topic); p++) {
                TopicPartition place = new TopicPartition(topic, p);
                partitions.put(place, new PartitionCheck(source, place, findings));
            }
        }
        requireTopic();
        long begin;
        long end;
        try (LogSource.Stream all = source.open(topics.heads(), 0)) {
            begin = all.begin();
            end = all.end();
        }
        // What was deleted by age can be compared no more.
        HeadReport.@Nullable Seen start = from.filter(seen -> seen.offset() >= begin).orElse(null);
        HeadChain chain = new HeadChain(topics.heads(), records, keys, findings, new HeadChain.Start(begin, start));
        if (start == null || start.offset() < end) {
            try (LogSource.Stream stream = source.open(topics.heads(), 0, start == null ? begin : start.offset())) {
                read(stream, chain);
            }
        }
        chain.end();
        chain.last().ifPresent(this::checkAge);
        boolean isSigned = chain.last().isPresent();
        run(partitions.values().stream().<Callable<Boolean>>map(one -> () -> {
            one.tail(isSigned);
            return true;
        }).toList());
        long lastMs = partitions.values().stream().mapToLong(PartitionCheck::lastMs).max().orElse(0);
        long afterMs = chain.last().map(last -> Math.max(0, lastMs - last.timeMs())).orElse(0L);
        return new HeadReport(chain.count(), chain.last(), each(PartitionCheck::records), each(PartitionCheck::stretches),
                each(PartitionCheck::unchecked), start == null ? each(PartitionCheck::before) : 0, each(PartitionCheck::after), afterMs,
                findings.kept(), findings.count());
    }

    /** The end of the log and the heads of the same time may have been cut off together: only that no newer head comes shows it. */
    private void checkAge(HeadReport.Seen last) {
        long ageMs = System.currentTimeMillis() - last.timeMs();
        if (ageMs > mostAgeMs) {
            findings.add(topics.heads(), 0, last.offset(), last.timeMs(), "the last head, " + last.number() + ", is of "
                    + Instant.ofEpochMilli(last.timeMs()) + ", " + ageMs / 1_000
                    + " s ago: tierlog log sign does not run, or later heads were cut off");
        }
    }

    private void requireTopic() {
        try {
            source.partitions(topics.heads());
        } catch (AuditException e) {
            throw new AuditException(e.getMessage(), "heads are signed by tierlog log sign, in a topic that tierlog topics create makes", e);
        }
    }

    private void read(LogSource.Stream stream, HeadChain chain) throws InterruptedException {
        List<HeadChain.Link> links = new ArrayList<>();
        int stretches = 0;
        for (List<LogEntry> entries = stream.next(); !entries.isEmpty(); entries = stream.next()) {
            for (LogEntry entry : entries) {
                switch (entry) {
                    case LogEntry.Data data -> {
                        Optional<HeadChain.Link> link = chain.take(data);
                        link.ifPresent(links::add);
                        stretches += link.map(one -> one.head().stretches().size()).orElse(0);
                    }
                    case LogEntry.Passed _ -> {}
                    case LogEntry.Damaged damaged -> findings.add(topics.heads(), 0, damaged.offset(), 0, "records " + damaged.offset() + " to "
                            + damaged.lastOffset() + ": " + damaged.detail());
                }
                if (stretches >= MOST_STRETCHES) {
                    compare(links);
                    links.clear();
                    stretches = 0;
                }
            }
        }
        compare(links);
    }

    /** Compares the log with further heads. */
    private void compare(List<HeadChain.Link> links) throws InterruptedException {
        Map<PartitionCheck, List<PartitionCheck.Part>> parts = new LinkedHashMap<>();
        for (HeadChain.Link link : links) {
            for (Stretch stretch : link.head().stretches()) {
                PartitionCheck check = partitions.get(new TopicPartition(stretch.topic(), stretch.partition()));
                if (check == null) {
                    findings.add(topics.heads(), 0, 0, link.head().timeMs(), link.name() + " has partition " + stretch.partition() + " of "
                            + stretch.topic() + ", and the log has not");
                } else {
                    parts.computeIfAbsent(check, _ -> new ArrayList<>()).add(new PartitionCheck.Part(stretch, link));
                }
            }
        }
        run(parts.entrySet().stream().<Callable<Boolean>>map(one -> () -> {
            one.getKey().check(one.getValue());
            return true;
        }).toList());
    }

    private void run(List<Callable<Boolean>> jobs) throws InterruptedException {
        if (!jobs.isEmpty()) {
            PartitionJobs.run(jobs, threads);
        }
    }

    private long each(ToLongFunction<PartitionCheck> what) {
        return partitions.values().stream().mapToLong(what).sum();
    }
}
