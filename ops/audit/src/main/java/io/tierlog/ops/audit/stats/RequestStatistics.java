/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import io.tierlog.ops.audit.stats.LogSummary.Part;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WaitExpired;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Attempts of requests: their states, the blocks of their prompts, and how long they waited.
 *
 * <p>What happened before {@code fromMs} is remembered and not counted: a request may have been submitted before it and end after it.
 *
 * <p>A block loaded from the host counts for the tier that it was fetched from for this attempt, else for the tier it was on at the submit. An
 * attempt counts once it is prefilled.
 *
 * <p>The three topics of a partition may be read in any order, since an attempt is kept until its last fact; what comes later than that counts
 * without a tier of origin. Memory: an entry for each attempt that has not ended, {@value #MAX_LIVE} at most, the oldest leaves first; and one for
 * each node and namespace, {@value #MAX_PARTS} at most, further namespaces count together. Not thread-safe.
 */
final class RequestStatistics {
    static final String LAST_BLOCK = "last_block";
    static final String OTHERS = "(others)";
    private static final Part OTHER_PART = new Part(OTHERS, OTHERS);

    private static final int MAX_LIVE = 100_000;
    private static final int MAX_PARTS = 10_000;

    private final Map<Attempt, Live> live = new Bounded<>(MAX_LIVE);
    private final Map<String, Fetch> fetches = new Bounded<>(MAX_LIVE);
    private final Map<Part, HitCounts> parts = new TreeMap<>();
    private final Map<String, Long> misses = new TreeMap<>();
    private final Map<RequestState, Long> states = new EnumMap<>(RequestState.class);
    private final Map<RequestReason, Long> ends = new EnumMap<>(RequestReason.class);
    private final Histogram submitToCommand = Latencies.histogram();
    private final Histogram submitToReady = Latencies.histogram();
    private long submitted;
    private long answeredAtOnce;
    private long waitsExpired;

    private final long fromMs;
    private final HitListener hitListener;

    /** Receives further blocks of the prompt of a prefilled attempt, as their origin becomes known. */
    @FunctionalInterface
    interface HitListener {
        void hits(long prefilledMs, Part part, Bytes root, HitCounts more);
    }

    RequestStatistics(long fromMs, HitListener hitListener) {
        this.fromMs = fromMs;
        this.hitListener = hitListener;
    }

    private record Attempt(String node, String request, int attempt) {}

    /** One attempt that has not ended. Times are append times in milliseconds since 1970, -1 while there is none. */
    private static final class Live {
        private String namespace = "";
        private int reusableBlocks = Integer.MAX_VALUE;
        private boolean waits;
        private long submittedMs = -1;
        private long commandMs = -1;
        private long readyMs = -1;
        /** Where fetches for this attempt have brought blocks from. */
        private final Map<Integer, Tier> fetched = new HashMap<>();
        private List<Integer> onHost = List.of();
        private List<Integer> onDisk = List.of();
        private int storeFrom;
        private int storeTo;
        private final Set<Integer> loaded = new HashSet<>();
        private @Nullable RequestPrefilled prefilled;
        private long prefilledMs;
        /** First block of the prompt; no bytes when it has none. */
        private Bytes root = Bytes.EMPTY;
        private Part part = OTHER_PART;
        private HitCounts counted = HitCounts.NONE;
        private @Nullable RequestReason wentOn;
        /** Computed blocks that wait for the reason; the fact may be read after the event. */
        private long missed;
        private boolean ended;

        private int fetches;

        /** Disk or store, when the block was there at the submit and not on the host; else UNKNOWN. Another request may have brought it since. */
        private Tier below(int index) {
            if (onHost.contains(index)) {
                return Tier.UNKNOWN;
            }
            return onDisk.contains(index) ? Tier.DISK : index >= storeFrom && index < storeTo ? Tier.STORE : Tier.UNKNOWN;
        }

        /** An engine may have loaded what came first and have ended the request before the rest of its fetch came. */
        private boolean isOver() {
            return ended && (!waits || commandMs >= 0) && fetches == 0;
        }
    }

    /** A fetch of which either the attempt or the end is not read yet. */
    private static final class Fetch {
        private @Nullable Attempt attempt;
        private @Nullable Live waiting;
        private List<BlockResult> results = List.of();
        private long endedMs = -1;
    }

    void event(Event event, long atMs) {
        String node = event.envelope().aggregate();
        // Events of other types do not concern the blocks and waits of requests.
        switch (event) {
            case RequestSubmitted e -> submitted(new Attempt(node, e.request(), e.attempt()), e, atMs);
            case PrefetchDone e -> fetchEnded(e.operation(), e.blocks(), atMs);
            case PrefetchFailed e -> fetchEnded(e.operation(), List.of(), atMs);
            case OperationCancelled e when fetches.containsKey(e.operation()) -> fetchEnded(e.operation(), e.blocks(), atMs);
            case CommandRefused e when e.operation() != null && fetches.containsKey(e.operation()) -> fetchEnded(e.operation(), List.of(), atMs);
            case WaitExpired e -> {
                waitsExpired += atMs >= fromMs ? 1 : 0;
                ready(live.get(new Attempt(node, e.request(), e.attempt())), atMs);
            }
            case LoadBackDone e -> loaded(live.get(new Attempt(node, e.request(), e.attempt())), e.blocks());
            case RequestPrefilled e -> prefilled(new Attempt(node, e.request(), e.attempt()), e, atMs);
            default -> {}
        }
    }

    void command(Command command, long atMs) {
        String node = command.envelope().aggregate();
        // Commands of other types do not answer a submit.
        switch (command) {
            case PrefetchBlocks c -> {
                Attempt attempt = new Attempt(node, c.request(), c.attempt());
                commanded(attempt, atMs);
                fetchOf(c.operation(), attempt);
            }
            case ResumeRequest c -> {
                Attempt attempt = new Attempt(node, c.request(), c.attempt());
                commanded(attempt, atMs);
                ready(live.get(attempt), atMs);
            }
            default -> {}
        }
    }

    void fact(Fact fact, long atMs) {
        String node = fact.envelope().aggregate();
        // Facts of other types do not concern requests.
        switch (fact) {
            case OperationIssued f when f.kind() == OperationKind.PREFETCH && f.request() != null ->
                fetchOf(f.operation(), new Attempt(node, f.request(), f.attempt()));
            case OperationEnded f when f.state() == OperationState.FENCED -> abandoned(fetches.remove(f.operation()));
            case RequestAdmitted _ -> states.merge(RequestState.SUBMITTED, 1L, Long::sum);
            case RequestTransitioned f -> transitioned(new Attempt(node, f.request(), f.attempt()), f, atMs);
            default -> {}
        }
    }

    private void submitted(Attempt id, RequestSubmitted e, long atMs) {
        if (atMs >= fromMs) {
            submitted++;
            answeredAtOnce += e.answered() ? 1 : 0;
        }
        Live attempt = live.computeIfAbsent(id, a -> new Live());
        attempt.namespace = e.namespace();
        attempt.root = e.keys().isEmpty() ? Bytes.EMPTY : e.keys().getFirst();
        attempt.reusableBlocks = (e.promptTokens() - 1) / e.blockTokens();
        attempt.waits = !e.answered();
        attempt.submittedMs = atMs;
        attempt.onHost = e.hostIndexes();
        attempt.onDisk = e.diskIndexes();
        attempt.storeFrom = e.storeFrom();
        attempt.storeTo = e.storeFrom() + e.storeBlocks();
        pair(id, attempt);
    }

    private void commanded(Attempt id, long atMs) {
        Live attempt = live.computeIfAbsent(id, a -> new Live());
        attempt.commandMs = atMs;
        pair(id, attempt);
    }

    /** Submit and command may be read in either order: whichever comes second takes the time between them. */
    private void pair(Attempt id, Live attempt) {
        if (attempt.waits && attempt.submittedMs >= 0 && attempt.commandMs >= 0 && attempt.commandMs >= fromMs) {
            submitToCommand.recordValue(Latencies.clamp(attempt.commandMs - attempt.submittedMs));
        }
        if (attempt.isOver()) {
            live.remove(id);
        }
    }

    private void ready(@Nullable Live attempt, long atMs) {
        if (attempt != null && attempt.waits && attempt.readyMs < 0 && attempt.submittedMs >= 0) {
            attempt.readyMs = atMs;
            if (atMs >= fromMs) {
                submitToReady.recordValue(Latencies.clamp(atMs - attempt.submittedMs));
            }
        }
    }

    private void fetchOf(String operation, Attempt attempt) {
        Fetch fetch = fetches.computeIfAbsent(operation, o -> new Fetch());
        Live known = live.get(attempt);
        if (known != null && fetch.waiting == null) {
            fetch.waiting = known;
            known.fetches++;
        }
        fetch.attempt = attempt;
        joined(operation, fetch);
    }

    private void fetchEnded(String operation, List<BlockResult> results, long atMs) {
        Fetch fetch = fetches.computeIfAbsent(operation, o -> new Fetch());
        fetch.results = results;
        fetch.endedMs = atMs;
        joined(operation, fetch);
    }

    private void joined(String operation, Fetch fetch) {
        if (fetch.attempt == null || fetch.endedMs < 0) {
            return;
        }
        fetches.remove(operation);
        Live attempt = fetch.waiting == null ? live.get(fetch.attempt) : fetch.waiting;
        if (attempt != null) {
            attempt.fetches -= fetch.waiting == null ? 0 : 1;
            fetch.results.stream()
                    .filter(block -> block.status() == BlockStatus.ARRIVED)
                    .forEach(block -> attempt.fetched.put(block.block().index(), block.source()));
            ready(attempt, fetch.endedMs);
            count(attempt); // it may have loaded what arrived before the fetch ended, or its command is read after the events
            if (attempt.isOver()) {
                live.remove(fetch.attempt, attempt);
            }
        }
    }

    /** The node is lost, and with it the end of its fetch. */
    private static void abandoned(@Nullable Fetch fetch) {
        if (fetch != null && fetch.waiting != null) {
            fetch.waiting.fetches--;
        }
    }

    private static void loaded(@Nullable Live attempt, List<BlockResult> results) {
        if (attempt != null) {
            for (BlockResult block : results) {
                if (block.status() == BlockStatus.ARRIVED) {
                    attempt.loaded.add(block.block().index());
                }
            }
        }
    }

    private void prefilled(Attempt id, RequestPrefilled e, long atMs) {
        if (atMs < fromMs) {
            return;
        }
        Live attempt = live.get(id);
        Part part = new Part(id.node, attempt == null ? "" : attempt.namespace);
        Live counted = attempt == null ? new Live() : attempt;
        counted.part = parts.size() < MAX_PARTS || parts.containsKey(part) ? part : OTHER_PART;
        counted.prefilled = e;
        counted.prefilledMs = atMs;
        count(counted);
        if (attempt == null) {
            missed("unknown", e.computedBlocks());
            return;
        }
        long total = (long) e.deviceBlocks() + e.loadedBlocks() + e.computedBlocks();
        long last = Math.clamp(total - attempt.reusableBlocks, 0, e.computedBlocks());
        missed(LAST_BLOCK, last);
        attempt.missed = e.computedBlocks() - last;
        attribute(attempt);
    }

    /** Counts the blocks of a prefilled attempt by what is known of their origin, in place of what was counted before. */
    private void count(Live attempt) {
        RequestPrefilled e = attempt.prefilled;
        if (e == null) {
            return;
        }
        long disk = from(attempt, Tier.DISK, e.loadedBlocks());
        long store = from(attempt, Tier.STORE, e.loadedBlocks() - disk);
        long peer = from(attempt, Tier.HOST, e.loadedBlocks() - disk - store);
        HitCounts now = new HitCounts(1, e.deviceBlocks(), e.loadedBlocks() - disk - store - peer, disk, store, peer, e.computedBlocks());
        HitCounts more = now.minus(attempt.counted);
        parts.merge(attempt.part, more, HitCounts::plus);
        hitListener.hits(attempt.prefilledMs, attempt.part, attempt.root, more);
        attempt.counted = now;
    }

    /**
     * Loaded blocks that came from a tier, as the agent tells the engine: what the attempt's own fetch brought, else where the block was at the
     * submit. At most {@code most}: an engine may discard what it has loaded.
     */
    private static long from(Live attempt, Tier tier, long most) {
        long blocks = attempt.loaded.stream().filter(index -> attempt.fetched.getOrDefault(index, attempt.below(index)) == tier).count();
        return Math.min(blocks, Math.max(0, most));
    }

    private void attribute(Live attempt) {
        if (attempt.wentOn != null && attempt.missed > 0) {
            missed(attempt.wentOn.name().toLowerCase(Locale.ROOT), attempt.missed);
            attempt.missed = 0;
        }
    }

    private void missed(String cause, long blocks) {
        if (blocks > 0) {
            misses.merge(cause, blocks, Long::sum);
        }
    }

    private void transitioned(Attempt id, RequestTransitioned f, long atMs) {
        boolean end = f.to() == RequestState.FINISHED || f.to() == RequestState.CANCELLED || f.to() == RequestState.REJECTED;
        states.computeIfPresent(f.from(), (state, count) -> count > 1 ? Long.valueOf(count - 1) : null);
        if (!end || atMs >= fromMs) {
            states.merge(f.to(), 1L, Long::sum);
        }
        if (end && atMs >= fromMs) {
            ends.merge(f.reason(), 1L, Long::sum);
        }
        Live attempt = live.get(id);
        if (attempt == null) {
            return;
        }
        if (f.to() == RequestState.PREFILLING) {
            attempt.wentOn = f.reason();
            attribute(attempt);
        }
        if (end) {
            missed("unknown", attempt.missed);
            attempt.missed = 0;
            attempt.ended = true;
            if (attempt.isOver()) {
                live.remove(id);
            }
        }
    }

    LogSummary.Requests summary(List<GroupPolicy> groups) {
        return new LogSummary.Requests(submitted, answeredAtOnce, waitsExpired, new EnumMap<>(states), new EnumMap<>(ends), new TreeMap<>(parts),
                new TreeMap<>(misses), groups, Percentiles.of(submitToCommand), Percentiles.of(submitToReady));
    }
}
