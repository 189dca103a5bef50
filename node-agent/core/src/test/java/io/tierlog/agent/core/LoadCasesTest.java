/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.LoadBackFailed;
import io.tierlog.schemas.event.RequestRejected;
import io.tierlog.schemas.event.RequestSubmitted;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Host to device, and saves against reuse of device pages. Blocks of 16 tokens, 64 device pages, 512 host pages by default. */
class LoadCasesTest {
    private final World world = World.running(64, 512);
    /** 100 tokens: 6 whole blocks, and (100 - 1) / 16 = 6 may be reused. */
    private final Prompt prompt = Prompt.range(16, 1, 100);

    /** The six blocks of {@code prompt} serve on the host, without a pin. */
    private void sixOnHost() {
        world.compute("warm", prompt, 0, 0, 1, 2, 3, 4, 5);
        String writeBack = world.writeBack("warm", prompt, 0, 0, 1, 2, 3, 4, 5);
        world.endAll(Kind.SAVE);
        world.releasePins(writeBack);
        world.assertAtRest();
        assertEquals(506, world.free());
    }

    @Test
    void everythingOnTheHostIsOfferedAtOnceAndLoaded() {
        sixOnHost();
        Offer offer = world.offered(world.submit("r", prompt, 0));
        List<Tier> sources = List.of(Tier.HOST, Tier.HOST, Tier.HOST, Tier.HOST, Tier.HOST, Tier.HOST);
        assertEquals(new Offer(0, sources, Offer.Reason.ALL_ON_HOST, "a/lease/1/1"), offer);
        assertEquals(6, world.pins());
        RequestSubmitted submitted = world.seen.last(RequestSubmitted.class);
        assertTrue(submitted.answered());
        assertEquals(List.of(0, 1, 2, 3, 4, 5), submitted.hostIndexes());

        long load = world.load("r", prompt, 0, 10, 11, 12, 13, 14, 15);
        assertEquals(12, world.pins(), "request and load");
        world.endAll(Kind.LOAD);
        assertEquals(new RecordedOutput.Loaded(6, ""), world.seen.reply(load, RecordedOutput.Loaded.class));
        for (int i = 0; i < 6; i++) {
            world.assertOnDevice(prompt, i, 10 + i);
        }
        LoadBackDone done = world.seen.event(LoadBackDone.class);
        assertEquals("a/load/1/1", done.operation());
        assertEquals(6 * FakePorts.BLOCK_BYTES, done.movedBytes());
        world.assertAtRest();
    }

    @Test
    void a1RefusedLoadLeavesNoPins() {
        sixOnHost();
        for (int round = 0; round < 100; round++) {
            String request = "r" + round;
            world.submit(request, prompt, 0);
            assertEquals(6, world.pins());
            // five destinations for six blocks: the last is named twice
            long load = world.load(request, prompt, 0, 10, 11, 12, 13, 14, 14);
            assertEquals(Refusal.BAD_ARGUMENT, world.seen.reply(load, RecordedOutput.Refused.class).refusal());
            world.assertAtRest();
            assertEquals(Refusal.UNKNOWN_LEASE,
                    world.seen.reply(world.load(request, prompt, 0, 10), RecordedOutput.Refused.class).refusal(), "ending it again changes nothing");
            world.cancel(request);
            world.assertAtRest();
        }
        assertEquals(506, world.free());
    }

    @Test
    void a1ReservationOfTheEngineFailsAndItGoesOnCold() {
        sixOnHost();
        world.submit("r", prompt, 0);
        world.prefilled("r");
        world.assertAtRest();
    }

    @Test
    void loadOfPagesThatArePinnedIsRefused() {
        sixOnHost();
        Prompt other = Prompt.range(16, 500, 532);
        world.compute("s", other, 0, 20, 21);
        world.submit("r", prompt, 0);
        long load = world.load("r", prompt, 0, 20);
        assertTrue(world.seen.reply(load, RecordedOutput.Refused.class).detail().contains("pinned"));
    }

    @Test
    void a2RejectedAfterTheLoadKeepsNothing() {
        sixOnHost();
        for (int round = 0; round < 11; round++) {
            String request = "r" + round;
            world.submit(request, prompt, 0);
            world.load(request, prompt, 0, 10, 11, 12, 13, 14, 15);
            world.endAll(Kind.LOAD);
            world.on(new AgentInput.Finished(world.call(), World.attempt(request), RequestReason.CONTEXT_LENGTH, 0));
            assertEquals(RequestReason.CONTEXT_LENGTH, world.seen.last(RequestRejected.class).reason());
            world.assertAtRest();
        }
    }

    @Test
    void a2RejectedWhileLoadingKeepsPagesUntilIdle() {
        sixOnHost();
        world.submit("r", prompt, 0);
        long load = world.load("r", prompt, 0, 10, 11, 12, 13, 14, 15);
        world.on(new AgentInput.Finished(world.call(), World.attempt("r"), RequestReason.KV_BUDGET, 0));
        assertEquals(List.of(), world.seen.releasedPages("r"));
        assertEquals(6, world.core.status().devicePins());
        world.endAll(Kind.LOAD);
        assertEquals(List.of(10, 11, 12, 13, 14, 15), world.seen.releasedPages("r"));
        assertEquals(0, world.seen.reply(load, RecordedOutput.Loaded.class).blocks());
        world.assertAtRest();
    }

    @Test
    void a3DevicePageIsReleasedOnlyAfterTheCopyHasLanded() {
        Prompt one = Prompt.range(16, 1, 16);
        world.compute("r", one, 0, 7);
        world.writeBack("r", one, 0, 7);
        assertEquals(List.of(), world.seen.releasedPages("r"), "the copy is under way");
        world.endAll(Kind.SAVE);
        assertEquals(List.of(7), world.seen.releasedPages("r"));
        // S writes B into page 7; the host image is A
        world.ports.device[7] = new byte[FakePorts.BLOCK_BYTES];
        assertArrayEquals(FakePorts.content("m", one.keys().get(0)), world.ports.host[0]);
    }

    @Test
    void a3TwoSavesOfOneRequestReleaseAfterBoth() {
        world.submitted("r", prompt);
        world.prefilled("r");
        world.seal("r", prompt, 0, 0, 1, 2);
        world.writeBack("r", prompt, 0, 0, 1); // write-through of the first two
        world.finish("r");
        world.writeBack("r", prompt, 2, 2);
        assertEquals(List.of(), world.seen.releasedPages("r"));
        List<FakePorts.Unit> saves = world.ports.of(Kind.SAVE);
        world.on(world.ports.end(saves.get(1), 9, OperationReason.IO)); // in any order
        assertEquals(List.of(2), world.seen.releasedPages("r"));
        world.on(world.ports.end(saves.get(0), 9, OperationReason.IO));
        assertEquals(List.of(2, 0, 1), world.seen.releasedPages("r"));
    }

    @Test
    void a4CancelledWhileLoading() {
        AgentLimits small = AgentLimits.defaults().with(new AgentLimits.Units(2, 1, 1, 1, 1));
        World w = World.running(64, 512, small);
        w.compute("warm", prompt, 0, 0, 1, 2, 3, 4, 5);
        String writeBack = w.writeBack("warm", prompt, 0, 0, 1, 2, 3, 4, 5);
        w.endAll(Kind.SAVE);
        w.releasePins(writeBack);
        w.submit("r", prompt, 0);
        long load = w.load("r", prompt, 0, 10, 11, 12, 13, 14, 15);
        assertEquals(1, w.ports.of(Kind.LOAD).size(), "one unit of two blocks is under way");
        w.cancel("r");
        assertEquals(List.of(), w.seen.releasedPages("r"), "no page is freed");
        assertEquals(6, w.core.status().devicePins());
        // the copies end; nothing of the load moves afterwards
        w.endAll(Kind.LOAD);
        assertEquals(List.of(), w.ports.units);
        assertEquals(List.of(10, 11, 12, 13, 14, 15), w.seen.releasedPages("r"));
        assertEquals(new RecordedOutput.Loaded(0, "CANCELLED"), w.seen.reply(load, RecordedOutput.Loaded.class));
        assertEquals(OperationReason.CANCELLED, w.seen.event(LoadBackFailed.class).reason());
        w.assertAtRest();
    }

    @Test
    void a4FaultInTheMiddleIsReportedWhenIdleAndOnlyTheRunCounts() {
        sixOnHost();
        world.submit("r", prompt, 0);
        long load = world.load("r", prompt, 0, 10, 11, 12, 13, 14, 15);
        world.end(Kind.LOAD, 3, OperationReason.DEVICE_FAULT);
        assertEquals(new RecordedOutput.Loaded(3, "DEVICE_FAULT"), world.seen.reply(load, RecordedOutput.Loaded.class));
        LoadBackDone done = world.seen.event(LoadBackDone.class);
        assertEquals(3, done.blocks().stream().filter(block -> block.status() == BlockStatus.ARRIVED).count());
        world.assertAtRest();
    }

    @Test
    void aRottenHostPageServesNoLonger() {
        sixOnHost();
        world.submit("r", prompt, 0);
        world.ports.host[2][5] ^= 1;
        long load = world.load("r", prompt, 0, 10, 11, 12, 13, 14, 15);
        world.endAll(Kind.LOAD);
        assertEquals(new RecordedOutput.Loaded(2, "CHECKSUM"), world.seen.reply(load, RecordedOutput.Loaded.class));
        BlocksEvicted evicted = world.seen.event(BlocksEvicted.class);
        assertEquals(RemovalReason.CHECKSUM, evicted.reason());
        assertEquals(2, evicted.blocks().getFirst().block().index());
        assertEquals(507, world.free());
        world.assertAtRest();
        assertEquals(2, world.offered(world.submitted("r2", prompt)).sources().size());
    }

    @Test
    void a4ALoadOfUnknownOutcomeCountsAsUnderWay() {
        sixOnHost();
        world.submit("r", prompt, 0);
        long load = world.load("r", prompt, 0, 10, 11);
        FakePorts.Unit unit = world.ports.only(Kind.LOAD);
        world.end(Kind.LOAD, 1, OperationReason.UNKNOWN);
        world.cancel("r");
        assertEquals(List.of(), world.seen.releasedPages("r"));
        assertEquals(2, world.pins(), "the load's");
        // the unit is reported again: idle
        world.on(FakePorts.input(unit, List.of(FakePorts.arrived(0), FakePorts.failed(OperationReason.DEVICE_FAULT))));
        assertEquals(0, world.seen.reply(load, RecordedOutput.Loaded.class).blocks());
        assertEquals(List.of(10, 11), world.seen.releasedPages("r"));
        world.assertAtRest();
    }

    @Test
    void a4ALaterLoadOfTheStreamSettlesOneOfUnknownOutcome() {
        sixOnHost();
        world.submit("r1", prompt, 0);
        world.submit("r2", prompt, 0);
        long first = world.load("r1", prompt, 0, 10, 11);
        long second = world.load("r2", prompt, 0, 12, 13);
        world.end(Kind.LOAD, 1, OperationReason.UNKNOWN);
        world.end(Kind.LOAD, 2);
        assertEquals(new RecordedOutput.Loaded(1, "DEVICE_FAULT"), world.seen.reply(first, RecordedOutput.Loaded.class));
        assertEquals(new RecordedOutput.Loaded(2, ""), world.seen.reply(second, RecordedOutput.Loaded.class));
        world.assertAtRest();
    }

    /** Its answer and the end of its call have crossed. */
    @Test
    void aLoadThatWasAnsweredWhenItsCallerWentNamesItsPagesAtOnce() {
        sixOnHost();
        world.submit("r", prompt, 0);
        long load = world.load("r", prompt, 0, 10, 11);
        world.endAll(Kind.LOAD);
        assertEquals(new RecordedOutput.Loaded(2, ""), world.seen.reply(load, RecordedOutput.Loaded.class));
        world.gone(load, World.attempt("r"), 10, 11);
        assertEquals(List.of(10, 11), world.seen.releasedPages("r"));
        world.cancel("r");
        assertEquals(List.of(10, 11), world.seen.releasedPages("r"), "once");
        world.assertAtRest();
    }

    @Test
    void aLoadThatWasRefusedWhenItsCallerWentNamesItsPagesButThoseThatOthersPin() {
        sixOnHost();
        Prompt other = Prompt.range(16, 500, 532);
        world.compute("s", other, 0, 20, 21);
        world.submit("r", prompt, 0);
        long load = world.load("r", prompt, 0, 10, 20);
        assertEquals(Refusal.BAD_ARGUMENT, world.refused(load).refusal());
        world.gone(load, World.attempt("r"), 10, 20, 64, -1, 10);
        assertEquals(List.of(10), world.seen.releasedPages("r"), "20 is named when it is free, to whom it is pinned for");
        world.advance(60_000);
        assertEquals(List.of(20, 21), world.seen.releasedPages("s"));
    }

    @Test
    void aLoadThatNeverCameNamesItsPages() {
        world.gone(world.call(), World.attempt("r"), 3, 4);
        assertEquals(List.of(3, 4), world.seen.releasedPages("r"));
    }

    @Test
    void aLoadThatMovesWhenItsCallerGoesNamesItsPagesOnceWhenTheyAreFree() {
        sixOnHost();
        world.submit("r", prompt, 0);
        long load = world.load("r", prompt, 0, 10, 11);
        world.gone(load, World.attempt("r"), 10, 11);
        assertEquals(List.of(), world.seen.releasedPages("r"));
        world.endAll(Kind.LOAD);
        assertEquals(List.of(10, 11), world.seen.releasedPages("r"));
        world.cancel("r");
        world.assertAtRest();
    }

    @Test
    void a8PagesOfASaveAreNotMatchable() {
        world.compute("r1", prompt, 0, 0, 1, 2, 3, 4, 5);
        String writeBack = world.writeBack("r1", prompt, 0, 0, 1, 2, 3, 4, 5);
        Offer while1 = world.offered(world.submitted("r2", prompt));
        assertEquals(Offer.none(0, Offer.Reason.NOTHING_BELOW), while1, "computes cold");
        world.endAll(Kind.SAVE);
        assertEquals(6, world.offered(world.submit("r3", prompt, 0)).sources().size());
        world.releasePins(writeBack);
    }

    @Test
    void notEligibleLoadsNothing() {
        Prompt two = Prompt.range(16, 1, 32);
        world.compute("warm", two, 0, 0, 1);
        world.writeBack("warm", two, 0, 0, 1);
        world.endAll(Kind.SAVE);
        Offer echo = world.offered(world.submit(World.attempt("r1"), two, 0, false));
        assertEquals(Offer.none(0, Offer.Reason.NOT_REUSE_ELIGIBLE), echo);
        assertEquals(List.of(), world.seen.last(RequestSubmitted.class).hostIndexes());
        assertEquals(1, world.offered(world.submit("r2", two, 0)).sources().size(), "32 tokens reuse (32 - 1) / 16 = 1");
    }
}
