/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import io.tierlog.engine.v1.BlockPage;
import io.tierlog.engine.v1.LoadReply;
import io.tierlog.engine.v1.LoadRequest;
import io.tierlog.engine.v1.Offer;
import io.tierlog.ops.engine.api.AgentSession.Submitted;
import io.tierlog.ops.engine.device.BlockTable;
import io.tierlog.ops.engine.device.ContentOracle;
import io.tierlog.ops.engine.device.DevicePool;
import io.tierlog.ops.engine.workload.BlockKey;
import io.tierlog.ops.engine.workload.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * One request on one engine:
 *
 * <pre>
 *   queue for pages - match the device cache - Submit - offer, or wait for Ready - match again - Load - compare - compute the rest
 *     - publish, Prefilled, Sealed - decode - Sealed - Finish - free the pages
 * </pre>
 *
 * <p>Used by one virtual thread. Each call to the agent may be refused or find the session gone; the request then goes on without it, and at its
 * end reports its blocks to a new session, as a new attempt.
 */
final class RequestRun {
    private final Engine engine;
    private final Request request;
    private final int ideal;
    private final DevicePool.Ticket ticket;
    private final DevicePool pool;
    private final ContentOracle oracle;
    private final Tiers tiers;
    private final Origin[] origins;
    private final boolean[] wrong;
    /** Why the blocks after the loaded ones did not arrive. */
    private MissCause stopped = MissCause.NO_AGENT;
    private OptionalLong answerNanos = OptionalLong.empty();
    private OptionalLong readyNanos = OptionalLong.empty();
    private OptionalLong loadNanos = OptionalLong.empty();

    RequestRun(Engine engine, Engine.Admitted admitted) {
        this.engine = engine;
        this.request = admitted.request();
        this.ideal = admitted.ideal();
        this.ticket = admitted.ticket();
        this.pool = engine.pool();
        this.oracle = engine.oracle(request);
        this.tiers = new Tiers(engine, request);
        this.origins = new Origin[request.accesses()];
        this.wrong = new boolean[request.accesses()];
        Arrays.fill(origins, Origin.COMPUTED);
    }

    /** Records that the request can never run here. */
    void reject() throws InterruptedException {
        tiers.reject();
    }

    void run() throws InterruptedException {
        BlockTable blocks = pool.acquire(
                ticket,
                new BlockTable.Demand(
                        tiers.name(), request.tenant(), request.wholeKeys(), request.reusable(), request.shape().pages()));
        try {
            engine.reportEvicted();
            serve(blocks);
        } finally {
            pool.release(blocks);
        }
        engine.reportEvicted();
    }

    private void serve(BlockTable blocks) throws InterruptedException {
        long submittedMs = System.currentTimeMillis();
        Optional<Submitted> submitted = tiers.submit(pool.placed(blocks, request.promptKeys().subList(0, blocks.matched())), request.reuseEligible());
        stopped = submitted.isPresent() ? stopped(submitted.get()) : tiers.absence();
        answerNanos = submitted.map(s -> OptionalLong.of(s.nanos())).orElse(OptionalLong.empty());
        readyNanos = submitted.filter(Submitted::waited).map(s -> OptionalLong.of(s.nanos())).orElse(OptionalLong.empty());
        List<Outcome.Miss> candidates = reuse(blocks, submitted.flatMap(Submitted::offer));
        compute(blocks);
        pool.publish(blocks, request.wholeKeys());
        engine.shared().ideal().sealAll(request, request.wholeKeys());
        int loaded = count(Origin.HOST) + count(Origin.DISK) + count(Origin.STORE);
        tiers.prefilled(count(Origin.DEVICE), loaded, count(Origin.COMPUTED));
        engine.reportEvicted(); // before anything can be saved: a loaded block may have moved to the page of another request
        tiers.sealed(blocks, request.wholeKeys());
        account(candidates, submittedMs);
        decode(blocks);
        tiers.finish(blocks, sealedKeys());
    }

    /** Uses what the device has by now, then the offer; returns the blocks that are missing up to the ideal at that moment. */
    private List<Outcome.Miss> reuse(BlockTable blocks, Optional<Offer> offer) throws InterruptedException {
        pool.rematch(blocks);
        for (int i = 0; i < blocks.matched(); i++) {
            origins[i] = Origin.DEVICE;
            verify(blocks, i, DevicePool.ANY_EPOCH);
        }
        if (offer.isPresent()) {
            load(blocks, offer.get());
        }
        List<Outcome.Miss> misses = new ArrayList<>();
        for (int i = 0; i < ideal; i++) {
            if (origins[i] == Origin.COMPUTED) {
                misses.add(miss(i));
            }
        }
        return misses;
    }

    private void load(BlockTable blocks, Offer offer) throws InterruptedException {
        int first = blocks.matched();
        int end = Math.min(offer.getFirstIndex() + offer.getSourcesCount(), request.reusable());
        if (offer.getFirstIndex() > first || end <= first) {
            return;
        }
        LoadRequest.Builder load = LoadRequest.newBuilder().setLease(offer.getLease());
        for (int i = first; i < end; i++) {
            load.addBlocks(BlockPage.newBuilder()
                    .setIndex(i)
                    .setKey(request.promptKeys().get(i).toByteString())
                    .setPage(blocks.page(i))
                    .setGeneration(blocks.generation(i)));
        }
        long start = System.nanoTime();
        Optional<LoadReply> reply = tiers.load(load);
        loadNanos = OptionalLong.of(System.nanoTime() - start);
        int loaded = Math.min(reply.map(LoadReply::getLoaded).orElse(0), end - first);
        for (int i = first; i < first + loaded; i++) {
            origins[i] = origin(offer.getSources(i - offer.getFirstIndex()));
            if (!verify(blocks, i, tiers.epoch())) {
                break;
            }
            pool.loaded(blocks, i, tiers.epoch());
            tiers.loaded(i, blocks.page(i));
            engine.shared().tally().loaded(engine.number(), engine.shared().config().device().blockBytes());
        }
        if (loaded < end - first) {
            stopped = reply.isEmpty() ? tiers.absence() : MissCause.LOAD_FAILED;
        }
    }

    /**
     * Compares block {@code i}. A wrong one counts as computed and is computed again, so that one bad block is counted once; so does one in a
     * file that the pool has left meanwhile, which ends the prefix.
     */
    private boolean verify(BlockTable blocks, int i, long epoch) {
        BlockKey key = request.promptKeys().get(i);
        OptionalLong offset = pool.compare(blocks, i, new DevicePool.Expected(oracle, key, epoch));
        if (offset.isEmpty()) {
            origins[i] = Origin.COMPUTED;
            stopped = MissCause.NO_AGENT;
            return false;
        }
        if (offset.getAsLong() != ContentOracle.EQUAL) {
            engine.wrongContent(
                    request,
                    key,
                    "block " + i + " from " + origins[i] + ", page " + blocks.page(i)
                            + ", generation " + blocks.generation(i) + ", first wrong byte at "
                            + offset.getAsLong());
            origins[i] = Origin.COMPUTED;
            wrong[i] = true;
        }
        return true;
    }

    private void compute(BlockTable blocks) {
        for (int i = 0; i < request.accesses(); i++) {
            if (origins[i] == Origin.COMPUTED) {
                pool.fill(blocks, i, oracle, request.promptKeys().get(i));
            }
        }
    }

    /** Generation is modelled by its time; the blocks it makes whole are filled when their keys are known. */
    private void decode(BlockTable blocks) throws InterruptedException {
        long micros = request.shape().outputTokens() * engine.shared().config().pacing().decodeMicrosPerToken();
        if (micros > 0) {
            TimeUnit.MICROSECONDS.sleep(micros);
        }
        int whole = request.shape().wholeBlocks();
        for (int i = 0; i < request.generatedKeys().size(); i++) {
            pool.fill(blocks, whole + i, oracle, request.generatedKeys().get(i));
        }
        if (!request.generatedKeys().isEmpty()) {
            pool.publish(blocks, sealedKeys());
            engine.shared().ideal().sealAll(request, request.generatedKeys());
        }
    }

    private List<BlockKey> sealedKeys() {
        List<BlockKey> keys = new ArrayList<>(request.wholeKeys());
        keys.addAll(request.generatedKeys());
        return keys;
    }

    private Outcome.Miss miss(int i) {
        if (!request.reuseEligible()) {
            return new Outcome.Miss(i, MissCause.NOT_REUSE_ELIGIBLE, true);
        }
        if (i >= request.reusable()) {
            return new Outcome.Miss(i, MissCause.PARTIAL_BLOCK, true);
        }
        if (wrong[i]) {
            return new Outcome.Miss(i, MissCause.WRONG_CONTENT, true);
        }
        if (!engine.shared().ideal().isSealed(request.id(request.promptKeys().get(i)))) {
            return new Outcome.Miss(i, MissCause.IN_FLIGHT, true);
        }
        return new Outcome.Miss(i, stopped, stopped == MissCause.NO_AGENT);
    }

    private void account(List<Outcome.Miss> misses, long submittedMs) {
        long prefilled = request.shape().inputTokens() - (long) (request.accesses() - count(Origin.COMPUTED)) * request.shape().blockTokens();
        long modelled = TimeUnit.MICROSECONDS.toNanos(prefilled * engine.shared().config().pacing().prefillMicrosPerToken());
        long firstToken = answerNanos.orElse(0) + loadNanos.orElse(0) + modelled;
        Outcome outcome = new Outcome(
                request, ideal, List.of(origins), misses, new Outcome.Times(answerNanos, readyNanos, loadNanos, firstToken));
        engine.shared().misses().note(outcome, submittedMs);
        engine.shared().tally().served(engine.number(), outcome);
    }

    private int count(Origin origin) {
        int count = 0;
        for (Origin each : origins) {
            count += each == origin ? 1 : 0;
        }
        return count;
    }

    private static MissCause stopped(Submitted submitted) {
        if (submitted.offer().isEmpty()) {
            return MissCause.WAIT_EXPIRED;
        }
        return switch (submitted.offer().get().getReason()) {
            case OFFER_REASON_BELOW_THRESHOLD -> MissCause.BELOW_THRESHOLD;
            case OFFER_REASON_FETCH_FAILED -> MissCause.FETCH_FAILED;
            case OFFER_REASON_WAIT_EXPIRED -> MissCause.WAIT_EXPIRED;
            case OFFER_REASON_AGENT_BUSY -> MissCause.AGENT_BUSY;
            case OFFER_REASON_NO_ROOM -> MissCause.NO_ROOM;
            case OFFER_REASON_CONTROLLER_BEHIND -> MissCause.CONTROLLER_BEHIND;
            case OFFER_REASON_ALL_ON_HOST, OFFER_REASON_NOTHING_BELOW, OFFER_REASON_FETCHED, OFFER_REASON_NOT_REUSE_ELIGIBLE,
                    OFFER_REASON_UNSPECIFIED, UNRECOGNIZED -> MissCause.NOTHING_BELOW;
        };
    }

    private static Origin origin(Offer.Source source) {
        return switch (source) {
            case SOURCE_DISK -> Origin.DISK;
            case SOURCE_STORE -> Origin.STORE;
            case SOURCE_HOST, SOURCE_UNSPECIFIED, UNRECOGNIZED -> Origin.HOST;
        };
    }
}
