/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Entry;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.LogReader.Source;
import io.tierlog.events.Reading;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.stats.LogStatistics;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.Event;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Folds the log into {@link LogStatistics} while a run goes on: the report's numbers about operations come from the log and from no part's memory.
 *
 * <p>Three followers, each a thread with a reader of its own: events and commands as they are appended, facts once they are committed. Any thread may
 * ask for the statistics. Beside these it holds when each block was backed up, of {@value #MAX_STORED} blocks at most.
 */
final class LogWatch implements AutoCloseable {
    private static final int MAX_STORED = 4_000_000;

    private final List<Follower<?>> followers;
    /** Guarded by this, as is the next one. */
    private final LogStatistics statistics = new LogStatistics();

    private final Map<StoredBlock, Long> storedAtMs = new HashMap<>();

    private record StoredBlock(String namespace, Bytes key) {}

    private LogWatch(KafkaAccess access, Codec codec, Topics topics) {
        followers = List.of(
                new Follower<>(new LogReader<>(access, codec, new Source<>(topics.events(), Event.class, Isolation.ALL).inBulk()), this::event),
                new Follower<>(new LogReader<>(access, codec, new Source<>(topics.commands(), Command.class, Isolation.ALL)), this::command),
                new Follower<>(
                        new LogReader<>(access, codec, new Source<>(topics.decisions(), Fact.class, Isolation.COMMITTED).inBulk()), this::fact));
    }

    /** Starts watching from the present ends of the topics. */
    static LogWatch start(KafkaAccess access, Codec codec, Topics topics) {
        LogWatch watch = new LogWatch(access, codec, topics);
        watch.followers.forEach(Follower::start);
        return watch;
    }

    /** The statistics so far. */
    synchronized LogSummary summary() {
        return statistics.summary(System.currentTimeMillis());
    }

    /** Events so far. */
    synchronized long events() {
        return statistics.events();
    }

    /** Operations that have not ended. */
    synchronized long unfinishedOperations() {
        return statistics.unfinishedOperations();
    }

    /** When the store first had the block by the log, in milliseconds since 1970; empty when it never had. */
    synchronized OptionalLong storedAtMs(String namespace, Bytes key) {
        Long at = storedAtMs.get(new StoredBlock(namespace, key));
        return at == null ? OptionalLong.empty() : OptionalLong.of(at);
    }

    /** Waits until every record that is in the topics now has been counted; false when {@code limit} passed before. */
    boolean catchUp(Duration limit) throws InterruptedException {
        long untilNanos = System.nanoTime() + limit.toNanos();
        boolean caughtUp = true;
        for (Follower<?> follower : followers) {
            caughtUp &= follower.passEnd(untilNanos);
        }
        return caughtUp;
    }

    @Override
    public void close() {
        followers.forEach(Follower::close);
    }

    private synchronized void event(Entry<Event> entry) {
        switch (entry.reading()) {
            case Reading.Decoded<Event>(Event event) -> {
                statistics.event(event, entry.timestampMs());
                if (event instanceof BackUpDone done) {
                    done.blocks().forEach(block -> stored(done.namespace(), block, entry.timestampMs()));
                }
            }
            case Reading.Unreadable<Event> _ -> statistics.unreadableEvent();
        }
    }

    /** A command counts when it arrives here, which is when an agent has it too. */
    private synchronized void command(Entry<Command> entry) {
        switch (entry.reading()) {
            case Reading.Decoded<Command>(Command command) -> statistics.command(command, System.currentTimeMillis());
            case Reading.Unreadable<Command> _ -> statistics.unreadableCommand();
        }
    }

    private synchronized void fact(Entry<Fact> entry) {
        switch (entry.reading()) {
            case Reading.Decoded<Fact>(Fact fact) -> statistics.fact(fact, entry.timestampMs());
            case Reading.Unreadable<Fact> _ -> statistics.unreadableFact();
        }
    }

    private void stored(String namespace, BlockResult block, long atMs) {
        boolean there = block.status() == BlockStatus.ARRIVED || block.status() == BlockStatus.ALREADY_THERE;
        if (there && storedAtMs.size() < MAX_STORED) {
            storedAtMs.putIfAbsent(new StoredBlock(namespace, block.block().key()), atMs);
        }
    }
}
