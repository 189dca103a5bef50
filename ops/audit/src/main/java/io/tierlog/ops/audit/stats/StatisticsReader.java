/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.Moment;
import io.tierlog.ops.audit.PartitionJobs;
import io.tierlog.ops.audit.Stretch;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Feeds a whole log to {@link LogStatistics}. Partitions are read and decoded side by side, and folded one record at a time; the three topics of a
 * partition are merged by append time, so that little waits to be joined. A stretch is read from the beginning of the log on, since what happens in
 * it may have begun before it. One instance reads once.
 */
public final class StatisticsReader {
    private final LogSource source;
    private final Topics topics;
    private final Codec codec;
    private final int threads;
    private final Object lock = new Object();
    private Stretch stretch = Stretch.ALL;
    private LogStatistics statistics = new LogStatistics();

    /**
     * A log to read.
     *
     * @param threads partitions read at a time, 1 or more
     */
    public StatisticsReader(LogSource source, Topics topics, Codec codec, int threads) {
        this.source = source;
        this.topics = topics;
        this.codec = codec;
        this.threads = threads;
    }

    /**
     * Reads all of it.
     *
     * @throws AuditException when the log cannot be read
     * @throws InterruptedException when the thread is interrupted; nothing is left running
     */
    public LogSummary read() throws InterruptedException {
        return read(Stretch.ALL, Optional.empty());
    }

    /**
     * Reads up to the end of a stretch, and counts what is in it.
     *
     * @param between two times: each topic has offsets of its own
     * @param detail receives all that is read
     * @throws AuditException when the stretch is one of offsets, or the log cannot be read
     * @throws InterruptedException when the thread is interrupted; nothing is left running
     */
    public LogSummary read(Stretch between, Optional<LogDetail> detail) throws InterruptedException {
        for (Optional<Moment> edge : List.of(between.from(), between.to())) {
            if (edge.isPresent() && !(edge.get() instanceof Moment.Time || edge.get() instanceof Moment.End)) {
                throw new AuditException("statistics are of three topics, and each has offsets of its own", "write times for --from and --to");
            }
        }
        stretch = between;
        statistics = new LogStatistics(detail, fromMs());
        int partitions = source.partitions(topics.events());
        for (String topic : List.of(topics.decisions(), topics.commands())) {
            if (source.partitions(topic) != partitions) {
                throw new AuditException(topics.events() + " has " + partitions + " partitions, and " + topic + " has " + source.partitions(topic),
                        "these are not the topics of one log: look at --topic-prefix");
            }
        }
        List<Callable<Boolean>> jobs = new ArrayList<>();
        for (int p = 0; p < partitions; p++) {
            int partition = p;
            jobs.add(() -> readPartition(partition));
        }
        PartitionJobs.run(jobs, threads);
        synchronized (lock) {
            return statistics.summary(statistics.lastMs());
        }
    }

    private boolean readPartition(int partition) {
        try (Side<Event> events = new Side<>(topics.events(), partition, Event.class, statistics::event, statistics::unreadableEvent);
                Side<Command> commands =
                        new Side<>(topics.commands(), partition, Command.class, statistics::command, statistics::unreadableCommand);
                Side<Fact> facts = new Side<>(topics.decisions(), partition, Fact.class, statistics::fact, statistics::unreadableFact)) {
            // At the same time the cause goes first: the event, then the command, then the fact.
            List<Side<?>> sides = List.of(events, commands, facts);
            while (true) {
                Side<?> earliest = sides.getFirst();
                for (Side<?> side : sides) {
                    earliest = side.nextMs() < earliest.nextMs() ? side : earliest;
                }
                if (earliest.nextMs() == Long.MAX_VALUE) {
                    return true;
                }
                earliest.foldNext();
            }
        }
    }

    private long fromMs() {
        return stretch.from().isEmpty() ? LogStatistics.FROM_THE_BEGINNING
                : stretch.from().get() instanceof Moment.Time(long first) ? first : Long.MAX_VALUE;
    }

    /** One topic of a partition. */
    private final class Side<F extends WireRecord> implements AutoCloseable {
        private final LogSource.Stream stream;
        private final RecordReader<F> reader;
        private final ObjLongConsumer<F> fold;
        private final Runnable unreadable;
        private final Deque<LogEntry> ahead = new ArrayDeque<>();
        private LogEntry.@Nullable Data head;

        Side(String topic, int partition, Class<F> family, ObjLongConsumer<F> fold, Runnable unreadable) {
            this.stream = source.open(topic, partition);
            this.reader = codec.reader(family);
            this.fold = fold;
            this.unreadable = unreadable;
            advance();
        }

        /** Append time of the next record; {@link Long#MAX_VALUE} at the end of the topic or of the stretch. */
        long nextMs() {
            LogEntry.Data next = head;
            return next == null ? Long.MAX_VALUE : next.timestampMs();
        }

        void foldNext() {
            LogEntry.Data next = head;
            if (next != null && (stretch.to().isEmpty() || stretch.to().get().includes(0, next.timestampMs(), 0))) {
                Reading<F> reading = reader.read(next.value());
                synchronized (lock) {
                    switch (reading) {
                        case Reading.Decoded<F> good -> fold.accept(good.value(), next.timestampMs());
                        case Reading.Unreadable<F> _ when next.timestampMs() >= fromMs() -> unreadable.run();
                        case Reading.Unreadable<F> _ -> {}
                    }
                }
            }
            advance();
        }

        private void advance() {
            head = null;
            while (head == null) {
                if (ahead.isEmpty()) {
                    ahead.addAll(stream.next());
                    if (ahead.isEmpty()) {
                        return;
                    }
                }
                switch (ahead.removeFirst()) {
                    case LogEntry.Data data when stretch.to().isPresent() && stretch.to().get().isPassed(data.timestampMs()) -> {
                        return;
                    }
                    case LogEntry.Data data -> head = data;
                    case LogEntry.Passed _ -> {}
                    case LogEntry.Damaged damaged -> {
                        synchronized (lock) {
                            for (long offset = damaged.offset(); offset <= damaged.lastOffset(); offset++) {
                                unreadable.run();
                            }
                        }
                    }
                }
            }
        }

        @Override
        public void close() {
            stream.close();
        }
    }
}
