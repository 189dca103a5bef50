/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import io.tierlog.ops.audit.stats.LogSummary.Part;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
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
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Joins the records of each attempt of a request, and reports what they say together: how long it waited, and where the blocks of its prompt came
 * from. The audit's statistics and the live page count what it reports, so they have the same definitions.
 *
 * <p>A block loaded from the host counts for the tier that it was fetched from for this attempt, else for the tier it was on at the submit. An
 * attempt counts once it is prefilled.
 *
 * <p>The three topics of a partition may be read in any order, since an attempt is kept until all that concerns it is read: submit, command, ends of
 * its fetches, prefill, last fact. A repeated prefill counts once; a repeated submit or expiry counts each time. Two things depend on the order: the
 * time until an attempt was ready, which counts up to the first of expiry, command and end of the fetch that is read; and the cause of the misses of
 * an attempt whose prefill was reported after its end.
 *
 * <p>Memory: an entry for each attempt that has not ended, {@value #MAX_LIVE} at most, and a short one for each of the last {@value #MAX_OVER} that
 * have; the oldest leaves first. What comes later than that counts without a tier of origin. What it remembers can be saved and restored, row by
 * row. Not thread-safe.
 */
public final class RequestJoin {
    static final String LAST_BLOCK = "last_block";
    private static final int MAX_LIVE = 100_000;
    private static final int MAX_OVER = 10_000;

    private final Map<Attempt, Live> live;
    /** Attempts that are over, so that a record which comes again or late is known as theirs. */
    private final Map<Attempt, Live> over;
    private final Map<String, Fetch> fetches;
    private final Findings findings;

    /** One attempt; the node is an aggregate: {@code node/ID}. */
    public record Attempt(String node, String request, int attempt) {}

    /** Receives what is found; times are append times in milliseconds since 1970. */
    public interface Findings {
        /** An engine submitted an attempt. */
        void submitted(Attempt attempt, RequestSubmitted event, long atMs);

        /** The wait of an attempt for a fetch ran out. */
        void expired(Attempt attempt, long atMs);

        /** The command for a waiting attempt was appended, {@code ms} after its submit. */
        void commanded(Attempt attempt, long atMs, long ms);

        /** A waiting attempt could go on, {@code ms} after its submit. */
        void ready(Attempt attempt, long atMs, long ms);

        /** Further blocks of the prompt of an attempt that was prefilled at {@code prefilledMs}, as their origin becomes known. */
        void hits(Attempt attempt, long prefilledMs, Part part, Bytes root, HitCounts more);

        /** Computed blocks of an attempt that was prefilled at {@code prefilledMs}, by cause. */
        void missed(long prefilledMs, String cause, long blocks);

        /** What is remembered of an attempt has changed: {@link RequestJoin#save(Attempt)} has it. */
        default void changed(Attempt attempt) {}

        /** What is remembered of a fetch has changed: {@link RequestJoin#saveFetch} has it. */
        default void fetchChanged(String operation) {}
    }

    /** Blocks of a prefilled prompt, as the engine counted them. */
    public record Prefilled(int device, int loaded, int computed) {}

    /** What is remembered of an attempt, to be written down. Not meant to be read by others. Without joined fetches as written by older versions. */
    public record SavedAttempt(
            Attempt id, String namespace, int reusableBlocks, boolean waits, long submittedMs, long commandMs, long readyMs,
            Map<Integer, Tier> fetched, List<Integer> onHost, List<Integer> onDisk, int storeFrom, int storeTo, Set<Integer> loaded,
            @Nullable Prefilled prefilled, long prefilledMs, String root, HitCounts counted, @Nullable RequestReason wentOn,
            long missed, boolean ended, int fetches, boolean decoding, @Nullable Set<String> joined) {}

    /** What is remembered of a fetch, to be written down. Not meant to be read by others. */
    public record SavedFetch(String operation, @Nullable Attempt attempt, boolean waitedFor, Map<Integer, Tier> arrived, long endedMs) {}

    /** Remembers nothing yet. */
    public RequestJoin(Findings findings) {
        this.findings = findings;
        live = new Bounded<>(MAX_LIVE, findings::changed);
        over = new Bounded<>(MAX_OVER, findings::changed);
        fetches = new Bounded<>(MAX_LIVE, findings::fetchChanged);
    }

    /** One attempt. Times are append times in milliseconds since 1970, -1 while there is none. */
    private static final class Live {
        private final Attempt id;
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
        private @Nullable Prefilled prefilled;
        private long prefilledMs;
        /** First block of the prompt; no bytes when it has none. */
        private Bytes root = Bytes.EMPTY;
        private HitCounts counted = HitCounts.NONE;
        private @Nullable RequestReason wentOn;
        /** Computed blocks that wait for the reason; the fact may be read after the event. */
        private long missed;
        private boolean ended;
        /** The engine has reported the prefill; the fact may be read before the event. */
        private boolean decoding;

        private int fetches;
        /** Fetches of which attempt and end are read; the second of command and fact may still come, and is of no further fetch. */
        private final Set<String> joined = new HashSet<>();

        Live(Attempt id) {
            this.id = id;
        }

        Part part() {
            return new Part(id.node, namespace);
        }

        /** Disk or store, when the block was there at the submit and not on the host; else UNKNOWN. Another request may have brought it since. */
        private Tier below(int index) {
            if (onHost.contains(index)) {
                return Tier.UNKNOWN;
            }
            return onDisk.contains(index) ? Tier.DISK : index >= storeFrom && index < storeTo ? Tier.STORE : Tier.UNKNOWN;
        }

        /** What no late record needs, when the attempt is over. */
        void shorten() {
            fetched.clear();
            onHost = List.of();
            onDisk = List.of();
            loaded.clear();
            joined.clear();
        }

        /** An engine may have loaded what came first and have ended the request before the rest of its fetch came. */
        private boolean isOver() {
            return ended && submittedMs >= 0 && (!waits || commandMs >= 0) && fetches == 0 && (!decoding || prefilled != null);
        }
    }

    /** A fetch of which either the attempt or the end is not read yet. */
    private static final class Fetch {
        private @Nullable Attempt attempt;
        /** Whether the attempt counts it among its fetches. */
        private boolean waitedFor;
        private Map<Integer, Tier> arrived = Map.of();
        private long endedMs = -1;
    }

    /** Applies an event. */
    public void event(Event event, long atMs) {
        String node = event.envelope().aggregate();
        // Events of other types do not concern the blocks and waits of requests.
        switch (event) {
            case RequestSubmitted e -> submitted(new Attempt(node, e.request(), e.attempt()), e, atMs);
            case PrefetchDone e -> fetchEnded(e.operation(), e.blocks(), atMs);
            case PrefetchFailed e -> fetchEnded(e.operation(), List.of(), atMs);
            case OperationCancelled e when fetches.containsKey(e.operation()) -> fetchEnded(e.operation(), e.blocks(), atMs);
            case CommandRefused e when e.operation() != null && fetches.containsKey(e.operation()) -> fetchEnded(e.operation(), List.of(), atMs);
            case WaitExpired e -> {
                Attempt attempt = new Attempt(node, e.request(), e.attempt());
                findings.expired(attempt, atMs);
                ready(live.get(attempt), atMs);
            }
            case LoadBackDone e -> loaded(live.get(new Attempt(node, e.request(), e.attempt())), e.blocks());
            case RequestPrefilled e -> prefilled(new Attempt(node, e.request(), e.attempt()), e, atMs);
            default -> {}
        }
    }

    /** Applies a command. */
    public void command(Command command, long atMs) {
        String node = command.envelope().aggregate();
        // Commands of other types do not answer a submit.
        switch (command) {
            case PrefetchBlocks c -> {
                Attempt attempt = new Attempt(node, c.request(), c.attempt());
                // The fetch first: the command may be the last that is read of an attempt, which is then over.
                if (!over.containsKey(attempt)) {
                    live.computeIfAbsent(attempt, Live::new);
                    fetchOf(c.operation(), attempt);
                    commanded(attempt, atMs);
                }
            }
            case ResumeRequest c -> {
                Attempt attempt = new Attempt(node, c.request(), c.attempt());
                commanded(attempt, atMs);
                ready(live.get(attempt), atMs);
            }
            default -> {}
        }
    }

    /** Applies a fact. */
    public void fact(Fact fact, long atMs) {
        String node = fact.envelope().aggregate();
        // Facts of other types do not concern requests.
        switch (fact) {
            case OperationIssued f when f.kind() == OperationKind.PREFETCH && f.request() != null ->
                fetchOf(f.operation(), new Attempt(node, f.request(), f.attempt()));
            case OperationEnded f when f.state() == OperationState.FENCED -> abandoned(f.operation());
            case RequestTransitioned f -> transitioned(new Attempt(node, f.request(), f.attempt()), f);
            default -> {}
        }
    }

    private void submitted(Attempt id, RequestSubmitted e, long atMs) {
        findings.submitted(id, e, atMs);
        if (over.containsKey(id)) {
            return;
        }
        Live attempt = live.computeIfAbsent(id, Live::new);
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
        if (over.containsKey(id)) {
            return;
        }
        Live attempt = live.computeIfAbsent(id, Live::new);
        attempt.commandMs = atMs;
        pair(id, attempt);
    }

    /** Submit and command may be read in either order: whichever comes second takes the time between them. */
    private void pair(Attempt id, Live attempt) {
        if (attempt.waits && attempt.submittedMs >= 0 && attempt.commandMs >= 0) {
            findings.commanded(id, attempt.commandMs, attempt.commandMs - attempt.submittedMs);
        }
        keepOrForget(attempt);
    }

    private void ready(@Nullable Live attempt, long atMs) {
        if (attempt != null && attempt.waits && attempt.readyMs < 0 && attempt.submittedMs >= 0) {
            attempt.readyMs = atMs;
            findings.ready(attempt.id, atMs, atMs - attempt.submittedMs);
            findings.changed(attempt.id);
        }
    }

    private void fetchOf(String operation, Attempt attempt) {
        Live known = live.get(attempt);
        if (over.containsKey(attempt) || (known != null && known.joined.contains(operation))) {
            return;
        }
        Fetch fetch = fetches.computeIfAbsent(operation, o -> new Fetch());
        if (known != null && !fetch.waitedFor) {
            fetch.waitedFor = true;
            known.fetches++;
            findings.changed(attempt);
        }
        fetch.attempt = attempt;
        joined(operation, fetch);
    }

    private void fetchEnded(String operation, List<BlockResult> results, long atMs) {
        Fetch fetch = fetches.computeIfAbsent(operation, o -> new Fetch());
        fetch.arrived = new TreeMap<>();
        results.stream()
                .filter(block -> block.status() == BlockStatus.ARRIVED)
                .forEach(block -> fetch.arrived.put(block.block().index(), block.source()));
        fetch.endedMs = atMs;
        joined(operation, fetch);
    }

    private void joined(String operation, Fetch fetch) {
        findings.fetchChanged(operation);
        if (fetch.attempt == null || fetch.endedMs < 0) {
            return;
        }
        fetches.remove(operation);
        Live attempt = live.get(fetch.attempt);
        if (attempt != null) {
            attempt.fetches -= fetch.waitedFor ? 1 : 0;
            attempt.joined.add(operation);
            attempt.fetched.putAll(fetch.arrived);
            ready(attempt, fetch.endedMs);
            count(attempt); // it may have loaded what arrived before the fetch ended, or its command is read after the events
            keepOrForget(attempt);
        }
    }

    /** The node is lost, and with it the end of its fetch. */
    private void abandoned(String operation) {
        Fetch fetch = fetches.remove(operation);
        if (fetch != null && fetch.attempt != null && fetch.waitedFor) {
            Live attempt = live.get(fetch.attempt);
            if (attempt != null) {
                attempt.fetches--;
                keepOrForget(attempt);
            }
        }
        findings.fetchChanged(operation);
    }

    private void keepOrForget(Live attempt) {
        if (attempt.isOver() && live.remove(attempt.id) != null) {
            attempt.shorten();
            over.put(attempt.id, attempt);
        }
        findings.changed(attempt.id);
    }

    private void loaded(@Nullable Live attempt, List<BlockResult> results) {
        if (attempt != null) {
            for (BlockResult block : results) {
                if (block.status() == BlockStatus.ARRIVED) {
                    attempt.loaded.add(block.block().index());
                }
            }
            findings.changed(attempt.id);
        }
    }

    private void prefilled(Attempt id, RequestPrefilled e, long atMs) {
        Live attempt = live.get(id);
        Live counted = attempt == null ? over.getOrDefault(id, new Live(id)) : attempt;
        if (counted.prefilled != null) {
            return;
        }
        counted.prefilled = new Prefilled(e.deviceBlocks(), e.loadedBlocks(), e.computedBlocks());
        counted.prefilledMs = atMs;
        count(counted);
        if (attempt == null) {
            missed(atMs, "unknown", e.computedBlocks());
            findings.changed(id);
            return;
        }
        long total = (long) e.deviceBlocks() + e.loadedBlocks() + e.computedBlocks();
        long last = Math.clamp(total - attempt.reusableBlocks, 0, e.computedBlocks());
        missed(atMs, LAST_BLOCK, last);
        attempt.missed = e.computedBlocks() - last;
        attribute(attempt);
        if (attempt.ended) {
            unattributed(attempt);
        }
        keepOrForget(attempt);
    }

    /** Counts the blocks of a prefilled attempt by what is known of their origin, in place of what was counted before. */
    private void count(Live attempt) {
        Prefilled e = attempt.prefilled;
        if (e == null) {
            return;
        }
        long disk = from(attempt, Tier.DISK, e.loaded());
        long store = from(attempt, Tier.STORE, e.loaded() - disk);
        long peer = from(attempt, Tier.HOST, e.loaded() - disk - store);
        HitCounts now = new HitCounts(1, e.device(), e.loaded() - disk - store - peer, disk, store, peer, e.computed());
        HitCounts more = now.minus(attempt.counted);
        if (!more.equals(HitCounts.NONE)) {
            findings.hits(attempt.id, attempt.prefilledMs, attempt.part(), attempt.root, more);
        }
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
            missed(attempt.prefilledMs, attempt.wentOn.name().toLowerCase(Locale.ROOT), attempt.missed);
            attempt.missed = 0;
        }
    }

    private void missed(long prefilledMs, String cause, long blocks) {
        if (blocks > 0) {
            findings.missed(prefilledMs, cause, blocks);
        }
    }

    private void unattributed(Live attempt) {
        missed(attempt.prefilledMs, "unknown", attempt.missed);
        attempt.missed = 0;
    }

    /** Whether a state is an end. */
    public static boolean isEnd(RequestState state) {
        return state == RequestState.FINISHED || state == RequestState.CANCELLED || state == RequestState.REJECTED;
    }

    private void transitioned(Attempt id, RequestTransitioned f) {
        if (over.containsKey(id)) {
            return;
        }
        // The fact may be read before the submit.
        Live attempt = live.computeIfAbsent(id, Live::new);
        attempt.decoding |= f.to() == RequestState.DECODING;
        if (f.to() == RequestState.PREFILLING) {
            attempt.wentOn = f.reason();
            attribute(attempt);
        }
        if (isEnd(f.to())) {
            unattributed(attempt);
            attempt.ended = true;
        }
        keepOrForget(attempt);
    }

    /** Attempts that are not over. */
    int unfinished() {
        return live.size();
    }

    /** What is remembered of an attempt; empty when nothing is. One that is over is saved as such. */
    public Optional<SavedAttempt> save(Attempt id) {
        return Optional.ofNullable(live.getOrDefault(id, over.get(id))).map(a -> new SavedAttempt(a.id, a.namespace, a.reusableBlocks, a.waits,
                a.submittedMs, a.commandMs, a.readyMs, new TreeMap<>(a.fetched), a.onHost, a.onDisk, a.storeFrom, a.storeTo, new TreeSet<>(a.loaded),
                a.prefilled, a.prefilledMs, a.root.hex(), a.counted, a.wentOn, a.missed, a.ended, a.fetches, a.decoding, new TreeSet<>(a.joined)));
    }

    /** What is remembered of a fetch; empty when nothing is. */
    public Optional<SavedFetch> saveFetch(String operation) {
        return Optional.ofNullable(fetches.get(operation))
                .map(fetch -> new SavedFetch(operation, fetch.attempt, fetch.waitedFor, fetch.arrived, fetch.endedMs));
    }

    /** Remembers again what was saved; the oldest first, and before any record is applied. */
    public void restore(SavedAttempt a) {
        Live attempt = new Live(a.id());
        attempt.namespace = a.namespace();
        attempt.reusableBlocks = a.reusableBlocks();
        attempt.waits = a.waits();
        attempt.submittedMs = a.submittedMs();
        attempt.commandMs = a.commandMs();
        attempt.readyMs = a.readyMs();
        attempt.fetched.putAll(a.fetched());
        attempt.onHost = a.onHost();
        attempt.onDisk = a.onDisk();
        attempt.storeFrom = a.storeFrom();
        attempt.storeTo = a.storeTo();
        attempt.loaded.addAll(a.loaded());
        attempt.prefilled = a.prefilled();
        attempt.prefilledMs = a.prefilledMs();
        attempt.root = a.root().isEmpty() ? Bytes.EMPTY : Bytes.ofHex(a.root());
        attempt.counted = a.counted();
        attempt.wentOn = a.wentOn();
        attempt.missed = a.missed();
        attempt.ended = a.ended();
        attempt.fetches = a.fetches();
        attempt.decoding = a.decoding();
        Set<String> joined = a.joined();
        if (joined != null) {
            attempt.joined.addAll(joined);
        }
        (attempt.isOver() ? over : live).put(a.id(), attempt);
    }

    /** Remembers again what was saved. */
    public void restore(SavedFetch saved) {
        Fetch fetch = new Fetch();
        fetch.attempt = saved.attempt();
        fetch.waitedFor = saved.waitedFor();
        fetch.arrived = saved.arrived();
        fetch.endedMs = saved.endedMs();
        fetches.put(saved.operation(), fetch);
    }
}
