/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.tierlog.agent.core.FakePorts.Kind;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.Attempt;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.EngineReplies.StoreAnswer;
import io.tierlog.agent.core.port.EngineReplies.Whereabouts;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.event.LoadBackDone;
import io.tierlog.schemas.event.LoadBackFailed;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.RequestCancelled;
import io.tierlog.schemas.event.WriteBackDone;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Leases, reservations and exist calls, and calls whose caller is gone. 64 device pages, 512 host pages; the six blocks of the prompt
 * serve on the host, so 506 pages are free.
 */
class LeaseCasesTest {
    private static final Attempt OUTSIDE = new Attempt(World.SESSION, "", 0);

    private final World world = World.running(64, 512);
    private final Prompt prompt = Prompt.range(16, 1, 100);

    @BeforeEach
    void sixOnHost() {
        world.compute("warm", prompt, 0, 0, 1, 2, 3, 4, 5);
        String writeBack = world.writeBack("warm", prompt, 0, 0, 1, 2, 3, 4, 5);
        world.endAll(Kind.SAVE);
        world.releasePins(writeBack);
        assertNothingKept();
    }

    private void assertNothingKept() {
        world.assertAtRest();
        assertEquals(506, world.free());
    }

    private RecordedOutput.Reserved reserved(long call) {
        return world.seen.reply(call, RecordedOutput.Reserved.class);
    }

    private void assertUnknown(String lease) {
        assertEquals(Refusal.UNKNOWN_LEASE, world.refused(world.release(lease)).refusal());
        assertEquals(Refusal.UNKNOWN_LEASE, world.refused(world.load(OUTSIDE, lease, prompt, 0, 10)).refusal());
    }

    @Test
    void aLoadConsumesTheLeaseOfItsOfferWhateverItTakesOfIt() {
        Offer offer = world.offered(world.submit("r", prompt, 0));
        assertEquals(6, world.pins());
        long load = world.load("r", prompt, 0, 10, 11);
        assertUnknown(offer.lease());
        assertEquals(Refusal.UNKNOWN_LEASE, world.refused(world.load("r", prompt, 0, 12)).refusal());
        assertEquals(8, world.pins(), "the other four are pinned until the load ends");
        world.endAll(Kind.LOAD);
        assertEquals(new RecordedOutput.Loaded(2, ""), world.seen.reply(load, RecordedOutput.Loaded.class));
        assertNothingKept();
        assertUnknown(offer.lease());
    }

    @Test
    void aLeaseOfAnOfferIsReleasedOnce() {
        Offer offer = world.offered(world.submit("r", prompt, 0));
        world.seen.reply(world.release(offer.lease()), RecordedOutput.Done.class);
        assertNothingKept();
        assertUnknown(offer.lease());
    }

    @Test
    void aLeaseOfAnOfferEndsWithItsAttempt() {
        Offer prefilled = world.offered(world.submit("r", prompt, 0));
        world.prefilled("r");
        assertUnknown(prefilled.lease());
        Offer cancelled = world.offered(world.submit(new Attempt(World.SESSION, "r", 2), prompt, 0, true));
        assertNotEquals(prefilled.lease(), cancelled.lease());
        world.on(new AgentInput.Cancelled(world.call(), new Attempt(World.SESSION, "r", 2)));
        assertEquals(Refusal.UNKNOWN_LEASE, world.refused(world.release(cancelled.lease())).refusal());
        assertNothingKept();
    }

    @Test
    void anOfferOfNothingHasNoLease() {
        Prompt other = Prompt.range(16, 500, 550);
        assertEquals("", world.offered(world.submitted("r", other)).lease());
        assertEquals(Refusal.UNKNOWN_LEASE, world.refused(world.load("r", other, 0, 10)).refusal());
    }

    @Test
    void aLeaseServesItsOwnAttemptAlone() {
        Offer first = world.offered(world.submit("r", prompt, 0));
        world.submit("s", prompt, 0);
        assertEquals(Refusal.UNKNOWN_LEASE, world.refused(world.load(World.attempt("s"), first.lease(), prompt, 0, 10)).refusal());
        assertEquals(Refusal.UNKNOWN_LEASE, world.refused(world.load(OUTSIDE, first.lease(), prompt, 0, 10)).refusal());
        RecordedOutput.Reserved reserved = reserved(world.reserve(prompt, 0, 2));
        assertEquals(Refusal.UNKNOWN_LEASE, world.refused(world.load(World.attempt("s"), reserved.lease(), prompt, 0, 10)).refusal());
        assertEquals(14, world.pins(), "nothing of this ended a lease");
    }

    @Test
    void aLoadForAnUnknownAttemptEndsItsLease() {
        String lease = reserved(world.reserve(prompt, 0, 2)).lease();
        assertEquals(Refusal.UNKNOWN_REQUEST, world.refused(world.load(World.attempt("unknown"), lease, prompt, 0, 10)).refusal());
        assertNothingKept();
        assertUnknown(lease);
        Offer offer = world.offered(world.submit("r", prompt, 0));
        Attempt second = new Attempt(World.SESSION, "r", 2);
        assertEquals(Refusal.UNKNOWN_REQUEST, world.refused(world.load(second, offer.lease(), prompt, 0, 10)).refusal());
        assertNothingKept();
    }

    @Test
    void aLoadThatNamesAKeyTwiceIsRefused() {
        String lease = reserved(world.reserve(prompt, 0, 2)).lease();
        AgentInput.DeviceBlock first = world.at(prompt, 0, 10);
        AgentInput.DeviceBlock again = new AgentInput.DeviceBlock(1, prompt.root(), 11, 1);
        long call = world.call();
        world.on(new AgentInput.LoadCalled(call, OUTSIDE, prompt.namespace(), lease, List.of(first, again)));
        assertEquals(true, world.refused(call).detail().contains("key " + prompt.root() + " is named twice"), world.refused(call)::detail);
        assertNothingKept();
    }

    @Test
    void aReservationPinsAllAndIsLoadedWithoutARequest() {
        RecordedOutput.Reserved reserved = reserved(world.reserve(World.SESSION, prompt, 1, 4, 700));
        assertEquals(700, reserved.leaseMs());
        assertEquals(3, world.pins());
        long load = world.load(OUTSIDE, reserved.lease(), prompt, 1, 20, 21, 22);
        assertEquals(6, world.pins(), "reservation and load");
        world.advance(5_000);
        assertEquals(6, world.pins(), "the end of the reservation is nothing to a load that moves");
        world.endAll(Kind.LOAD);
        assertEquals(new RecordedOutput.Loaded(3, ""), world.seen.reply(load, RecordedOutput.Loaded.class));
        for (int i = 1; i < 4; i++) {
            world.assertOnDevice(prompt, i, 19 + i);
        }
        LoadBackDone done = world.seen.event(LoadBackDone.class);
        assertEquals(List.of("", 0, 3), List.of(done.request(), done.attempt(), done.blocks().size()));
        assertEquals(prompt.block(1), done.blocks().getFirst().block());
        assertUnknown(reserved.lease());
        assertNothingKept();
    }

    @Test
    void aReservationIsAllOrNothing() {
        Prompt longer = Prompt.range(16, 1, 160); // blocks 0 to 5 are those of the prompt
        assertEquals(6, world.seen.reply(world.reserve(longer, 2, 9), RecordedOutput.Missing.class).position() + 2);
        assertNothingKept();
        assertEquals(Refusal.BAD_ARGUMENT, world.refused(world.reserve(prompt, 0, 0)).refusal());
        assertEquals(Refusal.BAD_ARGUMENT, world.refused(world.reserve(World.SESSION, prompt, 0, 1, -1)).refusal());
        assertEquals(Refusal.UNKNOWN_SESSION, world.refused(world.reserve("unknown", prompt, 0, 1, 0)).refusal());
    }

    @Test
    void aReservationEndsByItselfAndIsBoundedInTime() {
        AgentLimits.Engines engines = AgentLimits.defaults().engines();
        assertEquals(engines.leaseMs(), reserved(world.reserve(prompt, 0, 1)).leaseMs());
        String lease = reserved(world.reserve(World.SESSION, prompt, 0, 6, Long.MAX_VALUE)).lease();
        world.advance(engines.mostLeaseMs() - 1);
        assertEquals(6, world.pins());
        world.advance(1);
        assertNothingKept();
        assertUnknown(lease);
    }

    @Test
    void reservationsOfASessionAreBounded() {
        int most = AgentLimits.defaults().engines().leases();
        List<RecordedOutput.Reserved> all = IntStream.range(0, most).mapToObj(i -> reserved(world.reserve(prompt, 0, 1))).toList();
        RecordedOutput.Refused full = world.refused(world.reserve(prompt, 0, 1));
        assertEquals(List.of(Refusal.BUSY, true), List.of(full.refusal(), full.retry()));
        world.release(all.get(7).lease());
        reserved(world.reserve(prompt, 0, 1));
        world.on(new AgentInput.SessionClosed(World.SESSION, true));
        assertNothingKept();
    }

    /** 1 percent of 512 pages are 5. */
    @Test
    void reservationsKeepAShareOfTheHostAtMost() {
        AgentLimits.Engines engines = AgentLimits.defaults().engines();
        World w = World.running(64, 512, AgentLimits.defaults().with(new AgentLimits.Engines(
                engines.leases(), 1, engines.leaseMs(), engines.mostLeaseMs(), engines.calls(), engines.readWaitMs(), engines.mostReadWaitMs())));
        w.compute("warm", prompt, 0, 0, 1, 2, 3, 4, 5);
        w.releasePins(w.writeBack("warm", prompt, 0, 0, 1, 2, 3, 4, 5));
        w.endAll(Kind.SAVE);
        w.advance(60_000);
        RecordedOutput.Refused never = w.refused(w.reserve(prompt, 0, 6));
        assertEquals(List.of(Refusal.BUSY, false), List.of(never.refusal(), never.retry()));
        assertEquals(0, w.pins());
        String first = w.seen.reply(w.reserve(prompt, 0, 4), RecordedOutput.Reserved.class).lease();
        String second = w.seen.reply(w.reserve(prompt, 2, 5), RecordedOutput.Reserved.class).lease(); // two pages are in both
        RecordedOutput.Refused full = w.refused(w.reserve(prompt, 5, 6));
        assertEquals(List.of(Refusal.BUSY, true), List.of(full.refusal(), full.retry()));
        w.load(OUTSIDE, second, prompt, 2, 20); // consumed: 0 to 3 are left
        w.seen.reply(w.reserve(prompt, 5, 6), RecordedOutput.Reserved.class);
        w.refused(w.reserve(prompt, 4, 5));
        w.release(first);
        w.seen.reply(w.reserve(prompt, 1, 5), RecordedOutput.Reserved.class);
        w.settle();
        w.advance(60_000);
        w.seen.reply(w.reserve(prompt, 0, 5), RecordedOutput.Reserved.class);
    }

    @Test
    void aLoadOutsideItsReservationEndsIt() {
        RecordedOutput.Reserved reserved = reserved(world.reserve(prompt, 0, 2));
        assertEquals(Refusal.NOT_OFFERED, world.refused(world.load(OUTSIDE, reserved.lease(), prompt, 1, 20, 21)).refusal());
        assertNothingKept();
    }

    @Test
    void aReservationWhoseCallerIsGoneEnds() {
        long call = world.reserve(prompt, 0, 6);
        world.gone(call);
        assertNothingKept();
        assertUnknown(reserved(call).lease());
    }

    @Test
    void aLoadWithoutACallerKeepsItsPagesUntilItIsIdle() {
        AgentLimits small = AgentLimits.defaults().with(new AgentLimits.Units(2, 1, 1, 1, 1));
        World w = World.running(64, 512, small);
        w.compute("warm", prompt, 0, 0, 1, 2, 3, 4, 5);
        w.releasePins(w.writeBack("warm", prompt, 0, 0, 1, 2, 3, 4, 5));
        w.endAll(Kind.SAVE);
        w.advance(60_000);
        w.submit("r", prompt, 0);
        long load = w.load("r", prompt, 0, 10, 11, 12, 13);
        w.gone(load);
        assertEquals(4, w.core.status().devicePins());
        assertEquals(List.of(), w.seen.releasedPages("r"));
        w.end(Kind.LOAD, 2);
        assertEquals(List.of(), w.ports.units, "what had not begun to move never does");
        assertEquals(List.of(10, 11, 12, 13), w.seen.releasedPages("r"));
        assertEquals(OperationReason.CANCELLED, w.seen.event(LoadBackFailed.class).reason());
        w.assertAtRest();
        w.cancel("r");
        assertEquals(List.of(10, 11, 12, 13), w.seen.releasedPages("r"), "once");
    }

    @Test
    void aLoadWithoutACallerIsReleasedOnceWhenItsAttemptEndsToo() {
        world.submit("r", prompt, 0);
        world.gone(world.load("r", prompt, 0, 10, 11));
        world.cancel("r");
        world.endAll(Kind.LOAD);
        assertEquals(List.of(10, 11), world.seen.releasedPages("r"));
        assertNothingKept();
    }

    @Test
    void aSubmitWithoutACallerIsCancelled() {
        Prompt longer = Prompt.range(16, 1, 160);
        world.gone(world.submit("r", longer, 0));
        assertEquals(RequestReason.CLIENT_CANCELLED, world.seen.event(RequestCancelled.class).reason());
        world.settle();
        assertNothingKept();
    }

    @Test
    void theEndOfASessionEndsItsLoadsOutsideOfRequests() {
        RecordedOutput.Reserved reserved = reserved(world.reserve(prompt, 0, 6));
        long load = world.load(OUTSIDE, reserved.lease(), prompt, 0, 20, 21);
        world.on(new AgentInput.SessionClosed(World.SESSION, false));
        world.endAll(Kind.LOAD);
        assertEquals(new RecordedOutput.Loaded(0, "ENGINE_GONE"), world.seen.reply(load, RecordedOutput.Loaded.class));
        assertNothingKept();
    }

    @Test
    void anExistCallPinsNothingAndMakesNoBlockYounger() {
        Prompt longer = Prompt.range(16, 1, 160);
        world.ports.put(longer, 0, 2);
        List<Whereabouts> before = seen(world, longer, 0, 8);
        Whereabouts both = new Whereabouts(true, false, StoreAnswer.PRESENT);
        Whereabouts host = new Whereabouts(true, false, StoreAnswer.UNKNOWN);
        Whereabouts none = new Whereabouts(false, false, StoreAnswer.UNKNOWN);
        assertEquals(List.of(both, both, new Whereabouts(true, false, StoreAnswer.ABSENT), host, host, host, none, none), before);
        world.ports.storeReachable = false;
        assertEquals(new Whereabouts(true, false, StoreAnswer.UNREACHABLE), seen(world, longer, 5, 6).getFirst(), "is another answer than absent");
        assertNothingKept();
        assertEquals(0, world.seen.events(OperationStarted.class).stream().filter(e -> e.kind() == OperationKind.PREFETCH).count(), "fetches");
    }

    /** Two blocks without children fill the host; the colder is looked at, and leaves first all the same. */
    @Test
    void anExistCallDoesNotCountAsUse() {
        assertEquals(List.of(false, true), coldAndWarmAfter((w, cold) -> seen(w, cold, 0, 1)));
    }

    @Test
    void aReadIsAUse() {
        assertEquals(List.of(true, false), coldAndWarmAfter((w, cold) -> w.read(cold, -1, 0, 5)));
    }

    @Test
    void aLoadOfAReservationIsAUse() {
        assertEquals(List.of(true, false), coldAndWarmAfter((w, cold) -> {
            RecordedOutput.Reserved lease = w.seen.reply(w.reserve(cold, 0, 1), RecordedOutput.Reserved.class);
            w.load(OUTSIDE, lease.lease(), cold, 0, 5);
        }));
    }

    /** Which of two blocks is on the host, after one has been used and a third has taken the place of the other. */
    private List<Boolean> coldAndWarmAfter(BiConsumer<World, Prompt> use) {
        World w = World.running(8, 2);
        Prompt cold = Prompt.range(16, 1, 16);
        Prompt warm = Prompt.range(16, 100, 115);
        Prompt third = Prompt.range(16, 200, 215);
        int page = 0;
        for (Prompt one : List.of(cold, warm)) {
            w.compute("r" + page, one, 0, page);
            w.releasePins(w.writeBack("r" + page, one, 0, page));
            w.endAll(Kind.SAVE);
            page++;
        }
        w.advance(60_000);
        use.accept(w, cold);
        w.endAll(Kind.LOAD);
        w.compute("r2", third, 0, 2);
        w.writeBack("r2", third, 0, 2);
        w.endAll(Kind.SAVE);
        return List.of(seen(w, cold, 0, 1).getFirst().host(), seen(w, warm, 0, 1).getFirst().host());
    }

    /** Units of one block, one at a time. */
    @Test
    void loadsOfRequestsGoBeforeReadsAndReservedLoads() {
        World w = World.running(64, 512, AgentLimits.defaults().with(new AgentLimits.Units(1, 1, 1, 1, 1)));
        w.compute("warm", prompt, 0, 0, 1, 2, 3, 4, 5);
        w.releasePins(w.writeBack("warm", prompt, 0, 0, 1, 2, 3, 4, 5));
        w.endAll(Kind.SAVE);
        w.advance(60_000);
        w.read(prompt, -1, 0, 10, 11);
        w.load(OUTSIDE, w.seen.reply(w.reserve(prompt, 0, 6), RecordedOutput.Reserved.class).lease(), prompt, 0, 20, 21);
        w.submit("r", prompt, 0);
        w.load("r", prompt, 0, 30, 31);
        List<Integer> order = new ArrayList<>();
        while (!w.ports.of(Kind.LOAD).isEmpty()) {
            order.add(w.ports.only(Kind.LOAD).copies().getFirst().devicePage());
            w.end(Kind.LOAD, 1);
        }
        assertEquals(List.of(10, 30, 31, 11, 20, 21), order);
        w.cancel("r");
        w.assertAtRest();
    }

    @Test
    void theDiskIsSeenToo() {
        World w = World.withDisk(31, 8);
        Prompt two = Prompt.range(16, 1, 32);
        w.compute("r", two, 0, 0, 1);
        w.writeBack("r", two, 0, 0, 1);
        w.endAll(Kind.SAVE);
        w.copy(two, w.seen.last(WriteBackDone.class).blocks().subList(0, 1));
        w.settle();
        assertEquals(List.of(new Whereabouts(true, true, StoreAnswer.ABSENT), new Whereabouts(true, false, StoreAnswer.UNKNOWN)), seen(w, two, 0, 2));
    }

    @Test
    void anExistCallWithoutACallerIsForgottenAndTheyAreBounded() {
        int most = AgentLimits.defaults().engines().calls();
        for (int i = 0; i < most; i++) {
            world.exist(prompt, 0, 1);
        }
        assertEquals(Refusal.BUSY, world.refused(world.exist(prompt, 0, 1)).refusal());
        FakePorts.Unit first = world.ports.of(Kind.PROBE).getFirst();
        long call = world.seen.replies.keySet().stream().mapToLong(Long::longValue).max().orElseThrow() - most;
        world.gone(call);
        assertEquals(Refusal.BUSY, world.refused(world.exist(prompt, 0, 1)).refusal(), "the store is still being asked");
        world.on(world.ports.endProbe(first));
        assertFalse(world.seen.replies.containsKey(call), "the answer goes nowhere");
        world.exist(prompt, 0, 1);
        Map<Long, RecordedOutput.Reply> replies = world.seen.replies;
        int before = replies.size();
        world.on(new AgentInput.SessionClosed(World.SESSION, true));
        assertEquals(before + most, replies.size(), "each of the rest is refused: its session is over");
    }

    private static List<Whereabouts> seen(World world, Prompt prompt, int from, int to) {
        long call = world.exist(prompt, from, to);
        world.on(world.ports.endProbe(world.ports.only(Kind.PROBE)));
        return world.seen.reply(call, RecordedOutput.Found.class).blocks();
    }
}
