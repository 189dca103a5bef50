/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.history;

import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.schemas.event.PrefetchFailed;
import io.tierlog.schemas.event.RequestCancelled;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestRejected;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WaitExpired;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The attempts of one request in one partition: their steps, and what became of each block of the prompt. Confined to one thread. */
final class RequestTrace {
    private static final String NOWHERE = "nowhere";
    private static final String COMPUTED = "computed";

    private final Map<Integer, Attempt> attempts = new TreeMap<>();
    /** The attempt that a fetch serves. */
    private final Map<String, Attempt> fetches = new HashMap<>();

    /** One attempt. */
    static final class Attempt {
        private final int number;
        private final List<Step> steps = new ArrayList<>();
        private final Map<Integer, Fetched> fetched = new HashMap<>();
        /** Blocks that a fetch was to bring. */
        private final Set<Integer> wanted = new HashSet<>();
        private final Set<Integer> loaded = new HashSet<>();
        private @Nullable RequestSubmitted submitted;
        private String aggregate = "";
        private long offset = -1;
        private long timeMs;
        private @Nullable RequestPrefilled prefilled;
        private RequestReason wentOn = RequestReason.UNKNOWN;

        private Attempt(int number) {
            this.number = number;
        }

        /** The event that submitted it; null when the stretch does not have it. */
        @Nullable RequestSubmitted submitted() {
            return submitted;
        }

        /** The node. */
        String aggregate() {
            return aggregate;
        }

        /** Offset of the event that submitted it. */
        long offset() {
            return offset;
        }

        /** When that event was appended, milliseconds since 1970. */
        long timeMs() {
            return timeMs;
        }

        private void fetched(String operation, List<BlockResult> blocks) {
            blocks.forEach(block -> fetched.put(block.block().index(), new Fetched(operation, block)));
        }

        private void step(long timeMs, String what, String waitedFor, String detail) {
            steps.add(new Step(timeMs, what, waitedFor, detail));
        }
    }

    private record Step(long timeMs, String what, String waitedFor, String detail) {}

    private record Fetched(String operation, BlockResult result) {}

    /** What an earlier part of the log says about a block on a tier. */
    interface Past {
        /** Who brought it to the tier, as text; empty when it did not come there. */
        String broughtBy(Bytes key, Tier tier);

        /** How it left, as text; empty when no record says that it was ever there. */
        String left(Bytes key);
    }

    /** Takes a record about the request or an operation that serves it. */
    void record(String aggregate, long offset, long timeMs, WireRecord record) {
        switch (record) {
            case RequestSubmitted e -> submitted(attempt(e.attempt()), aggregate, offset, timeMs, e);
            case RequestTransitioned f -> transitioned(attempt(f.attempt()), timeMs, f);
            case OperationIssued f when f.kind() == OperationKind.PREFETCH && f.request() != null -> {
                Attempt attempt = attempt(f.attempt());
                fetches.put(f.operation(), attempt);
                f.blocks().forEach(block -> attempt.wanted.add(block.index()));
                attempt.step(timeMs, "fetch issued", "the controller's decision", f.blocks().size() + " blocks, operation " + f.operation());
            }
            case OperationStarted e when fetches.containsKey(e.operation()) ->
                    fetches.get(e.operation()).step(timeMs, "fetch started", "a place among the agent's operations", e.operation());
            case PrefetchDone e when fetches.containsKey(e.operation()) -> fetched(fetches.get(e.operation()), timeMs, e);
            case PrefetchFailed e when fetches.containsKey(e.operation()) -> {
                Attempt attempt = fetches.get(e.operation());
                attempt.fetched(e.operation(), e.blocks());
                attempt.step(timeMs, "fetch failed", "the fetch", words(e.reason()) + ", operation " + e.operation());
            }
            case OperationCancelled e when fetches.containsKey(e.operation()) -> {
                Attempt attempt = fetches.get(e.operation());
                attempt.fetched(e.operation(), e.blocks());
                attempt.step(timeMs, "fetch cancelled", "the fetch", words(e.reason()) + ", " + arrived(e.blocks()) + ", operation " + e.operation());
            }
            case CommandRefused e when e.operation() != null && fetches.containsKey(e.operation()) ->
                    fetches.get(e.operation()).step(timeMs, "fetch refused", "the fetch", words(e.reason()) + ": " + e.detail());
            case WaitExpired e ->
                    attempt(e.attempt()).step(timeMs, "wait expired", "the fetch", "waited " + e.waitedMs() + " ms; it goes on without the fetch");
            case LoadBackDone e -> loaded(attempt(e.attempt()), timeMs, e);
            case RequestPrefilled e -> {
                Attempt attempt = attempt(e.attempt());
                attempt.prefilled = e;
                attempt.step(timeMs, "prefilled", "loading and computing", e.deviceBlocks() + " blocks reused on the device, " + e.loadedBlocks()
                        + " loaded, " + e.computedBlocks() + " computed");
            }
            case RequestFinished e -> attempt(e.attempt()).step(timeMs, "finished", "decoding", words(e.reason()) + ", " + e.generatedTokens()
                    + " tokens");
            case RequestCancelled e -> attempt(e.attempt()).step(timeMs, "cancelled", "-", words(e.reason()));
            case RequestRejected e -> attempt(e.attempt()).step(timeMs, "rejected", "-", words(e.reason()));
            // Others are no steps of the request.
            default -> {}
        }
    }

    private Attempt attempt(int number) {
        return attempts.computeIfAbsent(number, Attempt::new);
    }

    private static void submitted(Attempt attempt, String aggregate, long offset, long timeMs, RequestSubmitted e) {
        attempt.submitted = e;
        attempt.aggregate = aggregate;
        attempt.offset = offset;
        attempt.timeMs = timeMs;
        attempt.step(timeMs, "submitted", "-", e.keys().size() + " whole blocks: device " + e.deviceBlocks() + ", host " + e.hostIndexes().size()
                + ", disk " + e.diskIndexes().size() + ", store " + e.storeBlocks() + (e.answered() ? "; answered at once" : "; waits"));
    }

    private static void transitioned(Attempt attempt, long timeMs, RequestTransitioned f) {
        if (f.to() == RequestState.PREFILLING) {
            attempt.wentOn = f.reason();
        }
        attempt.step(timeMs, "recorded: " + words(f.to()), "the controller's decision", words(f.reason()));
    }

    private static void fetched(Attempt attempt, long timeMs, PrefetchDone e) {
        attempt.fetched(e.operation(), e.blocks());
        attempt.step(timeMs, "fetch done", "the fetch", arrived(e.blocks()) + ", " + e.movedBytes() + " bytes in " + e.durationMicros() / 1_000
                + " ms");
    }

    private static String arrived(List<BlockResult> blocks) {
        return blocks.stream().filter(block -> block.status() == BlockStatus.ARRIVED).count() + " of " + blocks.size() + " blocks arrived";
    }

    private static void loaded(Attempt attempt, long timeMs, LoadBackDone e) {
        e.blocks().stream().filter(block -> block.status() == BlockStatus.ARRIVED).forEach(block -> attempt.loaded.add(block.block().index()));
        attempt.step(timeMs, "loaded", "the load to the device", attempt.loaded.size() + " blocks, " + e.movedBytes() + " bytes in "
                + e.durationMicros() / 1_000 + " ms");
    }

    /** The attempts that were submitted in the stretch. */
    List<Attempt> attempts() {
        return attempts.values().stream().filter(attempt -> attempt.submitted != null).toList();
    }

    /** An attempt as people read it. */
    static History.Attempt report(Attempt attempt, RequestSubmitted e, Past past) {
        List<History.Step> steps = new ArrayList<>();
        List<Step> ordered = attempt.steps.stream().sorted(Comparator.comparingLong(Step::timeMs)).toList();
        long before = ordered.getFirst().timeMs();
        for (Step step : ordered) {
            steps.add(new History.Step(step.timeMs(), step.what(), step.timeMs() - before, step.waitedFor(), step.detail()));
            before = step.timeMs();
        }
        List<History.PromptBlock> blocks = new ArrayList<>();
        boolean gap = false;
        for (int i = 0; i < e.keys().size(); i++) {
            History.PromptBlock block = block(attempt, e, i, gap, past);
            gap |= block.found().equals(NOWHERE);
            blocks.add(block);
        }
        return new History.Attempt(attempt.number, attempt.aggregate, e.namespace(), traceId(e.envelope().traceContext()), steps, blocks);
    }

    /** The trace id of a context: version, trace, span and flags with dashes between them. */
    private static String traceId(@Nullable String context) {
        String[] fields = context == null ? new String[0] : context.split("-", 3);
        return fields.length == 3 ? fields[1] : "";
    }

    private static History.PromptBlock block(Attempt attempt, RequestSubmitted e, int index, boolean gap, Past past) {
        Bytes key = e.keys().get(index);
        Tier found = found(e, index);
        Fetched fetched = attempt.fetched.get(index);
        boolean arrived = fetched != null && fetched.result().status() == BlockStatus.ARRIVED;
        String where = where(e, index);
        String before = found == Tier.UNKNOWN ? "" : past.broughtBy(key, found);
        String by = fetched == null || !arrived ? before
                : "operation " + fetched.operation() + (found == Tier.STORE && !before.isEmpty() ? "; to the store " + before : "");
        RequestPrefilled prefilled = attempt.prefilled;
        if (prefilled == null) {
            return new History.PromptBlock(index, key.hex(), where, by, "-", "it was never prefilled");
        }
        if (index < prefilled.deviceBlocks()) {
            return new History.PromptBlock(index, key.hex(), where, by, "reused on the device", "");
        }
        if (attempt.loaded.contains(index) && index < prefilled.deviceBlocks() + prefilled.loadedBlocks()) {
            return new History.PromptBlock(index, key.hex(), where, by, arrived ? "fetched and loaded" : "loaded", "");
        }
        return new History.PromptBlock(index, key.hex(), where, by, COMPUTED, why(attempt, e, index, gap, past));
    }

    /** Where the agent found a block of the prompt at submission. */
    static String where(RequestSubmitted e, int index) {
        Tier found = found(e, index);
        return found == Tier.UNKNOWN ? peer(e, index) : words(found);
    }

    private static Tier found(RequestSubmitted e, int index) {
        if (index < e.deviceBlocks()) {
            return Tier.DEVICE;
        }
        if (e.hostIndexes().contains(index)) {
            return Tier.HOST;
        }
        if (e.diskIndexes().contains(index)) {
            return Tier.DISK;
        }
        return index >= e.storeFrom() && index < e.storeFrom() + e.storeBlocks() ? Tier.STORE : Tier.UNKNOWN;
    }

    private static String peer(RequestSubmitted e, int index) {
        var peer = e.peer();
        return peer != null && index >= peer.from() && index < peer.from() + peer.blocks() ? "node " + peer.node() : NOWHERE;
    }

    /** Why a block was computed: the first reason that holds. */
    private static String why(Attempt attempt, RequestSubmitted e, int index, boolean gap, Past past) {
        if (index >= (e.promptTokens() - 1) / e.blockTokens()) {
            return "it has the last token, which is always computed";
        }
        if (!e.reuseEligible()) {
            return "the request may not reuse a prefix";
        }
        Fetched fetched = attempt.fetched.get(index);
        if (fetched != null && fetched.result().status() != BlockStatus.ARRIVED) {
            return "the fetch did not bring it: " + words(fetched.result().reason());
        }
        if (found(e, index) == Tier.UNKNOWN && peer(e, index).equals(NOWHERE)) {
            String left = past.left(e.keys().get(index));
            return left.isEmpty() ? "not seen before on this node" : left;
        }
        if (gap && !attempt.wanted.contains(index)) {
            return "a block before it in the prompt was missing";
        }
        return switch (attempt.wentOn) {
            case WAIT_EXPIRED -> "the fetch took longer than the request may wait";
            case BELOW_THRESHOLD -> "too few blocks to fetch: the policy's prefetch threshold";
            case FETCH_FAILED -> "the fetch failed";
            case QUOTA_EXCEEDED -> "the group's quota on the host was used up";
            case DRAINING -> "the node drains";
            case ANSWERED_AT_ONCE -> "the agent answered at once, so nothing was fetched";
            case NOT_REUSE_ELIGIBLE, NOTHING_BELOW, FETCH_ISSUED, FETCH_ARRIVED, UNKNOWN, SUBMITTED, PREFILLED, COMPLETED, PREEMPTED,
                    CLIENT_CANCELLED, ENGINE_GONE, NODE_LOST, NEW_ATTEMPT, CONTEXT_LENGTH, KV_BUDGET, UNKNOWN_ADAPTER ->
                "the engine computed it though it was there: " + words(attempt.wentOn);
        };
    }

    private static String words(Enum<?> name) {
        return name.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
