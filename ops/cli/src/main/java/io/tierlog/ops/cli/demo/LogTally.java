/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Entry;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.LogReader.Source;
import io.tierlog.events.Reading;
import io.tierlog.events.Topics;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WaitExpired;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Watches the log while a run goes on and counts what it says: the report's numbers about operations come from here and from nobody's memory.
 *
 * <p>Three followers, each a thread with a reader of its own: events and commands as they are appended, decisions once they are committed. The
 * counts can be read from any thread. It holds one entry per block that was backed up, up to {@value #MAX_STORED} of them, and one per request
 * that waits for its command.
 */
final class LogTally implements AutoCloseable {
    private static final int MAX_STORED = 4_000_000;
    private static final int MAX_WAITING = 100_000;
    private static final long MAX_LATENCY_MS = 3_600_000;

    private final List<Follower<?>> followers;
    private final AtomicLong events = new AtomicLong();
    private final AtomicLong commands = new AtomicLong();
    private final AtomicLong decisions = new AtomicLong();
    private final AtomicLong unreadable = new AtomicLong();
    private final AtomicLong waitsExpired = new AtomicLong();
    private final AtomicLong recovered = new AtomicLong();
    private final OperationBook book = new OperationBook();
    private final LevelBook levels = new LevelBook();
    private final ResidentBook resident = new ResidentBook();
    private final PromotionCount promotions = new PromotionCount();
    private final PeerCount peers = new PeerCount();
    private final ConcurrentMap<String, Long> submittedAtMs = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, Long> answeredAtMs = new ConcurrentHashMap<>();
    private final ConcurrentMap<StoredBlock, Long> storedAtMs = new ConcurrentHashMap<>();
    private final Histogram submitToCommandMs = new ConcurrentHistogram(MAX_LATENCY_MS, 3);

    private record StoredBlock(String namespace, Bytes key) {}

    private LogTally(KafkaAccess access, Codec codec, Topics topics) {
        followers = List.of(
                new Follower<>(new LogReader<>(access, codec, new Source<>(topics.events(), Event.class, Isolation.ALL)), this::event),
                new Follower<>(new LogReader<>(access, codec, new Source<>(topics.commands(), Command.class, Isolation.ALL)), this::command),
                new Follower<>(
                        new LogReader<>(access, codec, new Source<>(topics.decisions(), Fact.class, Isolation.COMMITTED)),
                        this::decision));
    }

    /** Starts watching from the present ends of the topics. */
    static LogTally start(KafkaAccess access, Codec codec, Topics topics) {
        LogTally tally = new LogTally(access, codec, topics);
        tally.followers.forEach(Follower::start);
        return tally;
    }

    /**
     * Counts so far.
     *
     * @param unreadable records that could not be read
     * @param waitsExpired requests whose wait for a fetch expired
     * @param recovered blocks that agents found on their disks when they started
     */
    record Counts(
            long events, long decisions, long commands, long unreadable, long waitsExpired, long recovered, OperationBook.Totals operations) {}

    Counts counts() {
        synchronized (book) {
            return new Counts(events.get(), decisions.get(), commands.get(), unreadable.get(), waitsExpired.get(), recovered.get(), book.totals());
        }
    }

    /** Operations started, by kind in lower case. */
    Map<String, Long> startedByKind() {
        synchronized (book) {
            return lowerCase(book.startedByKind());
        }
    }

    /** Bytes moved, by kind in lower case. */
    Map<String, Long> bytesByKind() {
        synchronized (book) {
            return lowerCase(book.bytesByKind());
        }
    }

    /** What the log said of water levels. */
    LevelBook.Levels levels() {
        synchronized (book) {
            return levels.levels(System.currentTimeMillis());
        }
    }

    /** Blocks that namespaces have on hosts and disks now, and the most that they had at any time. */
    LogSummary.Resident resident() {
        synchronized (book) {
            return new LogSummary.Resident(resident.now(), resident.most(), resident.lost(), resident.isWhole());
        }
    }

    /** What the log said of promotions. */
    PromotionCount.Counts promotions() {
        synchronized (book) {
            return promotions.counts();
        }
    }

    /** What the log said of reads across nodes. */
    PeerCount.Counts peers() {
        synchronized (book) {
            return peers.counts();
        }
    }

    /** When the log first said that the store has the block, in milliseconds since 1970; empty when it never did. */
    OptionalLong storedAtMs(String namespace, Bytes key) {
        Long at = storedAtMs.get(new StoredBlock(namespace, key));
        return at == null ? OptionalLong.empty() : OptionalLong.of(at);
    }

    /** Milliseconds from the append of a waiting request to the arrival of its command. */
    Histogram submitToCommandMs() {
        return submitToCommandMs.copy();
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

    private void event(Entry<Event> entry) {
        events.incrementAndGet();
        if (entry.reading() instanceof Reading.Decoded<Event>(Event event)) {
            synchronized (book) {
                peers.take(event);
            }
        }
        switch (entry.reading()) {
            case Reading.Decoded<Event>(RequestSubmitted submitted) when !submitted.answered() ->
                pair(submittedAtMs, waiting(submitted.envelope().aggregate(), submitted.request(), submitted.attempt()), entry.timestampMs());
            case Reading.Decoded<Event>(BackUpDone done) -> done.blocks().forEach(block -> stored(done.namespace(), block, entry.timestampMs()));
            case Reading.Decoded<Event>(BlocksRecovered found) -> recovered.addAndGet(found.blocks().size());
            case Reading.Decoded<Event>(WaitExpired _) -> waitsExpired.incrementAndGet();
            case Reading.Decoded<Event> _ -> {}
            case Reading.Unreadable<Event> _ -> unreadable.incrementAndGet();
        }
    }

    private void command(Entry<Command> entry) {
        commands.incrementAndGet();
        long now = System.currentTimeMillis();
        switch (entry.reading()) {
            case Reading.Decoded<Command>(PrefetchBlocks c) -> pair(answeredAtMs, waiting(c.envelope().aggregate(), c.request(), c.attempt()), now);
            case Reading.Decoded<Command>(ResumeRequest c) -> pair(answeredAtMs, waiting(c.envelope().aggregate(), c.request(), c.attempt()), now);
            case Reading.Decoded<Command> _ -> {}
            case Reading.Unreadable<Command> _ -> unreadable.incrementAndGet();
        }
    }

    private void decision(Entry<Fact> entry) {
        decisions.incrementAndGet();
        switch (entry.reading()) {
            case Reading.Decoded<Fact>(Fact decision) -> {
                synchronized (book) {
                    book.take(decision);
                    levels.take(decision, entry.timestampMs());
                    resident.take(decision);
                    promotions.take(decision);
                    peers.take(decision);
                }
            }
            case Reading.Unreadable<Fact> _ -> unreadable.incrementAndGet();
        }
    }

    /** The two followers may see request and command in either order: whoever comes second takes the time between them. */
    private synchronized void pair(ConcurrentMap<String, Long> mine, String request, long atMs) {
        if (mine.size() >= MAX_WAITING) {
            return;
        }
        mine.put(request, atMs);
        Long submitted = submittedAtMs.get(request);
        Long answered = answeredAtMs.get(request);
        if (submitted != null && answered != null) {
            submittedAtMs.remove(request);
            answeredAtMs.remove(request);
            submitToCommandMs.recordValue(Math.clamp(answered - submitted, 0, MAX_LATENCY_MS));
        }
    }

    private void stored(String namespace, BlockResult block, long atMs) {
        boolean there = block.status() == BlockStatus.ARRIVED || block.status() == BlockStatus.ALREADY_THERE;
        if (there && storedAtMs.size() < MAX_STORED) {
            storedAtMs.putIfAbsent(new StoredBlock(namespace, block.block().key()), atMs);
        }
    }

    private static String waiting(String node, String request, int attempt) {
        return node + ' ' + request + ' ' + attempt;
    }

    private static Map<String, Long> lowerCase(Map<OperationKind, Long> byKind) {
        Map<String, Long> named = new LinkedHashMap<>();
        byKind.forEach((kind, count) -> named.put(kind.name().toLowerCase(Locale.ROOT), count));
        return named;
    }
}
