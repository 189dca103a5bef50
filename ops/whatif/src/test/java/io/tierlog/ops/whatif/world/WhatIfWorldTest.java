/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.ops.engine.Hits;
import io.tierlog.ops.engine.workload.BlockKey;
import io.tierlog.ops.engine.workload.Request;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.ops.policy.PolicyDocument;
import io.tierlog.ops.policy.Reading;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Tiny worlds. Blocks have 512 tokens and 1,000,000 bytes. A call takes 1 ms there and back, a probe of the store 2 ms, a record 3 ms to the
 * controller and a command 4 ms back; a token costs 100 us. Loads and saves take 1 ms a block, the store 10 ms a block, the disk 5 ms a block.
 */
class WhatIfWorldTest {
    private static final HardwareModel.Link DEVICE = new HardwareModel.Link(0, 1_000_000_000, 1, 32);
    private static final HardwareModel.Link STORE = new HardwareModel.Link(0, 100_000_000, 1, 32);
    private static final HardwareModel.Link DISK = new HardwareModel.Link(0, 200_000_000, 1, 32);
    private static final HardwareModel MODEL = new HardwareModel(
            DEVICE, DEVICE, STORE, STORE, new HardwareModel.Link(2_000, 1, 1, 32), DISK, DISK, new HardwareModel.Log(3_000, 4_000, 10_000),
            new HardwareModel.Engine(1_000, 100_000, 0, 0));
    /** The prompt that comes again: 4 whole blocks and one token; the block of the last token is always computed, so 4 may be hit. */
    private static final long[] PROMPT = {1, 2, 3, 4, 5};

    /** Two of a kind, a minute apart: the engine has all four. The agent asks the store beyond them only where there is something beyond. */
    @Test
    void theDeviceHasWhatItKept() {
        WhatIfResult result = run(plan(100, 0, 50, true), prompts(PROMPT, PROMPT));

        assertEquals(new Hits(4, 0, 0, 0), result.hits());
        assertEquals(0.4, result.hitRatio());
        assertEquals(4 * 512, result.savedTokens());
        // The first: 1 ms for the call, 2 ms for the probe, 2,049 tokens. The second: the call, and one token.
        assertEquals(207.9, result.firstToken().max(), 0.2);
        assertEquals(1.1, result.firstToken().p50(), 0.01);
        // Four whole blocks went to the host and on to the store, once.
        assertEquals(new WhatIfResult.Moved(0, 4_000_000, 0, 4_000_000, 0, 0), result.moved());
    }

    /** An engine that keeps nothing: four come from the host, for a call, 4 ms of loads in one unit and another call. */
    @Test
    void theHostHasWhatWasWrittenBack() {
        WhatIfResult result = run(plan(100, 0, 50, false), prompts(PROMPT, PROMPT));

        assertEquals(new Hits(0, 4, 0, 0), result.hits());
        assertEquals(1 + 1 + 4 + 0.1, result.firstToken().p50(), 0.01);
        assertEquals(4_000_000, result.moved().loaded());
    }

    /** A host of 6 blocks: another prompt of 4 pushes the first four out, to the store they went before. A fetch brings them back. */
    @Test
    void theStoreHasWhatTheHostLost() {
        WhatIfResult result = run(plan(6, 0, 50, false), prompts(PROMPT, new long[] {11, 12, 13, 14, 15}, PROMPT));

        assertEquals(4, result.hits().store() + result.hits().host());
        assertTrue(result.hits().store() > 0, result.toString());
        assertTrue(result.removed().getOrDefault(new WhatIfResult.Removed(Tier.HOST, RemovalReason.WATER_LEVEL), 0L) > 0, result.toString());
        assertEquals(result.hits().store() * 1_000_000, result.moved().storeRead());
    }

    /** Two nodes in turn: the second node has nothing, the store has all four. */
    @Test
    void aFetchWaitsForTheLogAndTheStore() {
        WhatIfResult result = run(on(2, Routing.ROUND_ROBIN), prompts(PROMPT, PROMPT));

        assertEquals(new Hits(0, 0, 0, 4), result.hits());
        // Call 0.5, probe 2, event 3, command 4, four blocks of 10, notice 0.5; the load: call 1, four blocks of 1; one token 0.1.
        assertEquals(0.5 + 2 + 3 + 4 + 40 + 0.5 + 1 + 4 + 0.1, result.firstToken().p50(), 0.05);
    }

    /** As before with a store of 400 ms a block: the wait ends after 200 ms, and everything is computed. */
    @Test
    void aWaitThatExpiresComputesAll() {
        WhatIfPlan plan = on(2, Routing.ROUND_ROBIN);
        HardwareModel slow = MODEL.withLinks(Map.of("store_read", new HardwareModel.Link(0, 2_500_000, 1, 32)));
        WhatIfResult result = run(with(plan, slow), prompts(PROMPT, PROMPT));

        assertEquals(Hits.NONE, result.hits());
        // From the submission on 200 ms, half a call each way, and 2,049 tokens.
        assertEquals(200 + 1 + 204.9, result.firstToken().max(), 2.5);
    }

    /** As measured, the log is quick at first and takes 500 ms from the second prompt on: the wait ends before the command comes. */
    @Test
    void aFetchWaitsForTheLogAsItWasThen() {
        WhatIfPlan plan = on(2, Routing.ROUND_ROBIN);
        Delays measured = new Delays(List.of(
                new Delays.Sample(0, 7_000), new Delays.Sample(50_000, 500_000), new Delays.Sample(70_000, 500_000)));
        WhatIfResult result = run(with(plan, MODEL.with(MODEL.log().with(measured))), prompts(PROMPT, PROMPT));

        assertEquals(Hits.NONE, result.hits());
        assertEquals(new Hits(0, 0, 0, 4), run(with(plan, MODEL), prompts(PROMPT, PROMPT)).hits());
    }

    /**
     * The way to the controller takes 400 ms at first and 2 ms less with each millisecond: the prompt's submission leaves at some 12 ms and would
     * arrive at 388 ms, its end leaves after 200 ms and takes no time. Calls take 20 ms or none. Records stay in their order.
     */
    @Test
    void noRecordOvertakesAnother() {
        List<Delays.Sample> log = new ArrayList<>();
        List<Delays.Sample> calls = new ArrayList<>();
        for (int ms = 0; ms < 1_000; ms++) {
            log.add(new Delays.Sample(ms, 2 * Math.max(0, 400_000 - 2_000L * ms)));
            calls.add(new Delays.Sample(ms, ms % 3 == 0 ? 20_000 : 0));
        }
        HardwareModel uneven = MODEL.with(MODEL.log().with(new Delays(log))).with(MODEL.engine().with(new Delays(calls)));
        WhatIfResult result = run(with(plan(100, 0, 50, false), uneven), prompts(PROMPT, PROMPT));

        assertEquals(new Hits(0, 4, 0, 0), result.hits());
        assertEquals(0, result.pressure().refusedCalls());
    }

    /** A threshold of 4 blocks: a fetch must bring more than that. */
    @Test
    void thePolicyDecides() {
        WhatIfResult result = run(with(on(2, Routing.ROUND_ROBIN), withThreshold(4)), prompts(PROMPT, PROMPT));

        assertEquals(Hits.NONE, result.hits());
        assertEquals(0, result.moved().storeRead());
    }

    /** By prefix and by conversation a prompt goes where it was before, the first node or the second. */
    @Test
    void routesFollowPrompts() {
        long[] other = {11, 12, 13, 14, 15};

        for (Routing routing : List.of(Routing.STICKY, Routing.PREFIX)) {
            assertEquals(new Hits(0, 4, 0, 0), run(on(2, routing), prompts(PROMPT, other, PROMPT)).hits(), routing.text());
            assertEquals(new Hits(0, 4, 0, 0), run(on(2, routing), prompts(PROMPT, other, other)).hits(), routing.text());
        }
    }

    /** A disk of 100 blocks behind a host of 6: what leaves the host is found on the disk, and a fetch of any size is allowed. */
    @Test
    void theDiskHasWhatTheHostLost() {
        WhatIfPlan plan = with(plan(6, 100, 50, false), withThreshold(0));
        WhatIfResult result = run(plan, prompts(PROMPT, new long[] {11, 12, 13, 14, 15}, PROMPT));

        // What the agent dropped under pressure before the controller could copy it is in the store alone.
        assertEquals(new Hits(0, 0, 2, 2), result.hits());
        assertEquals(result.hits().disk() * 1_000_000, result.moved().diskRead());
    }

    /** Two prompts at once on one engine that computes one at a time: the second waits for the first, 204.9 ms. */
    @Test
    void promptsWaitForTheEngineWhereItComputesOneAtATime() {
        HardwareModel one = MODEL.with(new HardwareModel.Engine(1_000, 100_000, 0, 1));
        WhatIfPlan plan = plan(100, 0, 50, true);
        Workload workload = new Listed(List.of(request(0, 0, PROMPT), request(1, 0, 11, 12, 13, 14, 15)));

        assertEquals(3 + 204.9, run(plan, workload).firstToken().max(), 2.5);
        assertEquals(3 + 204.9 + 204.9, run(with(plan, one), workload).firstToken().max(), 2.5);
    }

    @Test
    void aRequestThatNeverFitsIsRejected() {
        WhatIfResult result = run(plan(100, 0, 4, true), prompts(PROMPT));

        assertEquals(1, result.rejected());
        assertEquals(0, result.accesses());
        assertEquals(0, result.hitRatio());
    }

    @Test
    void theSamePlanGivesTheSameResult() {
        Workload workload = prompts(PROMPT, new long[] {1, 2, 21, 22}, PROMPT, new long[] {1, 2, 21, 22, 23});
        WhatIfResult first = run(on(2, Routing.PREFIX), workload);
        WhatIfResult second = run(on(2, Routing.PREFIX), workload);

        assertEquals(first.hits(), second.hits());
        assertEquals(first.moved(), second.moved());
        assertEquals(first.removed(), second.removed());
        assertEquals(first.firstToken().max(), second.firstToken().max());
    }

    @Test
    void aPlanOfNothingIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> plan(0, 0, 1, true));
        assertThrows(IllegalArgumentException.class, () -> new WhatIfPlan.Pace(0, 1));
        assertThrows(IllegalArgumentException.class, () -> new HardwareModel.Link(0, 0, 1, 1));
    }

    private static WhatIfResult run(WhatIfPlan plan, Workload workload) {
        return WhatIfWorld.run(plan, workload);
    }

    private static WhatIfPlan plan(int host, int disk, int device, boolean retention) {
        return new WhatIfPlan("", Policies.INITIAL, new WhatIfPlan.Sizes(1, host, disk, device, retention, 1_000_000), Routing.STICKY,
                new WhatIfPlan.Pace(100, 1), 200, MODEL);
    }

    private static WhatIfPlan on(int nodes, Routing routing) {
        return new WhatIfPlan("", Policies.INITIAL, new WhatIfPlan.Sizes(nodes, 100, 0, 50, false, 1_000_000), routing, new WhatIfPlan.Pace(100, 1),
                200, MODEL);
    }

    private static Policy withThreshold(int blocks) {
        return switch (PolicyDocument.read("prefetch_threshold: " + blocks, Policies.INITIAL, Limits.DEFAULTS)) {
            case Reading.Valid(Policy policy) -> policy;
            case Reading other -> throw new IllegalStateException(other.toString());
        };
    }

    private static WhatIfPlan with(WhatIfPlan plan, Policy policy) {
        return new WhatIfPlan(plan.name(), policy, plan.sizes(), plan.routing(), plan.pace(), plan.prefetchWaitMs(), plan.model());
    }

    private static WhatIfPlan with(WhatIfPlan plan, HardwareModel model) {
        return new WhatIfPlan(plan.name(), plan.policy(), plan.sizes(), plan.routing(), plan.pace(), plan.prefetchWaitMs(), model);
    }

    /** One a minute; the last block of each has one token. */
    private static Workload prompts(long[]... prompts) {
        return new Listed(IntStream.range(0, prompts.length).mapToObj(i -> request(i, i * 60_000L, prompts[i])).toList());
    }

    private static Request request(int index, long atMs, long... blocks) {
        return new Request(index, 0, atMs, new Request.Shape((blocks.length - 1) * 512 + 1, 1, 512),
                Arrays.stream(blocks).mapToObj(BlockKey::of).toList(), List.of(), true, Request.NO_PREDECESSOR);
    }

    private record Listed(List<Request> requests) implements Workload {
        @Override
        public String name() {
            return "listed";
        }

        @Override
        public int blockTokens() {
            return 512;
        }

        @Override
        public List<String> tenants() {
            return List.of("one");
        }

        @Override
        public int size() {
            return requests.size();
        }

        @Override
        public Request request(int index) {
            return requests.get(index);
        }
    }
}
