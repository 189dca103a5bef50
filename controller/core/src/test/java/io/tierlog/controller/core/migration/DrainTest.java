/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.state.ShareRows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.DrainEnd;
import io.tierlog.schemas.MoveTrigger;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.decision.BlocksUnconfirmed;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.MigrationSubmitted;
import io.tierlog.schemas.decision.NodeDrained;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksSeenStored;
import io.tierlog.schemas.event.EngineAttached;
import io.tierlog.schemas.event.EngineDetached;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.SharesRow;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A node that drains: nothing new comes, and what only it has is saved. At most 2 blocks may be in flight to the store. */
class DrainTest extends MigrationScene {
    private void drain(String request, boolean drain) {
        w.input(new NodeDrainRequested(operator("node/a"), request, drain, null));
    }

    private static Block named(int name) {
        return new Block(0, key(name), Bytes.EMPTY);
    }

    private List<CopyBlocks> tick() {
        w.tick();
        return w.commands(CopyBlocks.class);
    }

    @Test
    void whatOnlyTheNodeHasIsSavedWithinTheBudget() {
        onHost(1, 2, 3);
        onDisk(4, 1);
        drain("d", true);

        List<CopyBlocks> first = tick();
        assertEquals(2, first.stream().mapToInt(c -> c.blocks().size()).sum());
        assertEquals(List.of(Tier.HOST, Tier.STORE), List.of(first.getFirst().source(), first.getFirst().target()));
        MigrationSubmitted submitted = w.facts(MigrationSubmitted.class).getFirst();
        assertEquals(List.of(MoveTrigger.DRAIN, Retention.KEEP_BOTH), List.of(submitted.move().trigger(), submitted.move().retention()));
        assertEquals(List.of(), tick(), "the budget is used up");
        List<CopyBlocks> open = new ArrayList<>(first);
        int saved = 0;
        for (int i = 0; i < 20 && w.facts(NodeDrained.class).isEmpty(); i++) {
            for (CopyBlocks copy : open) {
                saved += copy.blocks().size();
                w.input(done(copy));
            }
            open = new ArrayList<>(tick());
        }
        assertEquals(4, saved, "1 is saved from the host, and not from the disk again");
        assertEquals(0, w.fact(NodeDrained.class).leftBlocks());
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, key(1)), "it stays and serves");
        w.tick();
        assertEquals(List.of(), w.facts(NodeDrained.class), "said once");
    }

    /** A pass takes more than one step. A block that comes where the pass has been already is saved before the node is called drained. */
    @Test
    void aBlockThatComesBehindThePassIsSaved() {
        onHost(IntStream.rangeClosed(1, 60).toArray());
        onDisk(IntStream.rangeClosed(61, 120).toArray());
        drain("d", true);
        List<CopyBlocks> open = tick();
        for (int i = 0; i < 200 && !(open.isEmpty() && isInItsLastPass()); i++) {
            open.forEach(copy -> w.input(done(copy)));
            open = tick();
        }
        assertTrue(isInItsLastPass(), "100 of 120 blocks are seen, and all are saved");

        onHost(0); // its key is the first

        List<Bytes> saved = new ArrayList<>();
        for (int i = 0; i < 9 && w.facts(NodeDrained.class).isEmpty(); i++) {
            for (CopyBlocks copy : tick()) {
                copy.blocks().forEach(block -> saved.add(block.block().key()));
                w.input(done(copy));
            }
        }
        assertEquals(List.of(key(0)), saved, "before the node is called drained");
        assertEquals(0, w.fact(NodeDrained.class).leftBlocks());
    }

    private boolean isInItsLastPass() {
        SharesRow shares = ShareRows.orNothing(w.node(a).shares());
        return !shares.drainCursor().isEmpty() && shares.drainSaving() == 0;
    }

    /** A tick passes between the registration and the agent's report: the node looks empty, and is not drained for that. */
    @Test
    void aDrainStartsAgainWithWhatTheAgentReportsAfterItsRegistration() {
        drain("d", true);
        w.tick();
        assertEquals(0, w.fact(NodeDrained.class).leftBlocks());

        w.input(new BlocksRecovered(a.envelope(), Tier.HOST, Agent.NAMESPACE, List.of(new PagedBlock(named(1), 1, 1, 0)), 0));

        List<CopyBlocks> copies = tick();
        assertEquals(1, copies.stream().mapToInt(c -> c.blocks().size()).sum());
        assertEquals(List.of(), w.facts(NodeDrained.class));
        copies.forEach(copy -> w.input(done(copy)));
        w.tick();
        assertEquals(0, w.fact(NodeDrained.class).leftBlocks());
    }

    /** The store had both once. A drain does not rely on that: one is there still, the other is written again. */
    @Test
    void whatTheStoreHadOnceIsConfirmedAgain() {
        onHost(1, 2);
        w.input(new BlocksSeenStored(a.envelope(), Agent.NAMESPACE, List.of(named(1), named(2))));
        drain("d", true);

        List<CopyBlocks> copies = tick();

        assertEquals(2, copies.stream().mapToInt(c -> c.blocks().size()).sum());
        assertEquals(2, w.facts(BlocksUnconfirmed.class).stream().mapToInt(f -> f.blocks().size()).sum());
        copies.forEach(copy -> w.input(done(copy)));
        w.tick();
        assertEquals(List.of(), w.commands(CopyBlocks.class), "the second pass relies on the first");
        assertEquals(0, w.fact(NodeDrained.class).leftBlocks());
    }

    @Test
    void whatCannotBeConfirmedIsCounted() {
        onHost(1, 2);
        w.input(new BlocksSeenStored(a.envelope(), Agent.NAMESPACE, List.of(named(1), named(2))));
        drain("d", true);
        for (int i = 0; i < 20 && w.facts(NodeDrained.class).isEmpty(); i++) {
            for (CopyBlocks copy : tick()) {
                w.input(failed(copy, OperationReason.STORE_UNAVAILABLE));
            }
        }
        assertEquals(2, w.fact(NodeDrained.class).leftBlocks());
    }

    /** Copies take the whole budget and never end, as on a store that hangs. The drain ends by its time, and says what is left. */
    @Test
    void aDrainEndsByItsTime() {
        onHost(1, 2, 3);
        drain("d", true);
        assertEquals(2, tick().stream().mapToInt(c -> c.blocks().size()).sum());
        long hour = 3_600_000;
        for (int i = 0; i < 23; i++) {
            w.tick(hour);
            w.input(a.heartbeat());
        }
        assertEquals(List.of(), w.facts(NodeDrained.class));
        assertFalse(ShareRows.orNothing(w.node(a).shares()).drained());

        w.tick(hour);
        w.input(a.heartbeat());
        w.tick();
        assertEquals(List.of(new Ended(3, DrainEnd.TIME_OVER)), ended());
        SharesRow shares = ShareRows.orNothing(w.node(a).shares());
        assertTrue(shares.draining() && shares.drained());
        assertEquals(3, shares.drainLeft());
        w.tick();
        assertEquals(List.of(), ended(), "said once");
        assertEquals(List.of(), w.commands(CopyBlocks.class));

        drain("again", true);
        w.tick();
        assertFalse(ShareRows.orNothing(w.node(a).shares()).drained(), "another request has its own time");
    }

    private record Ended(long left, DrainEnd reason) {}

    private List<Ended> ended() {
        return w.facts(NodeDrained.class).stream().map(f -> new Ended(f.leftBlocks(), f.reason())).toList();
    }

    @Test
    void whatCannotBeSavedIsCounted() {
        onHost(1, 2);
        drain("d", true);
        for (int i = 0; i < 20 && w.facts(NodeDrained.class).isEmpty(); i++) {
            for (CopyBlocks copy : tick()) {
                w.input(failed(copy, OperationReason.STORE_UNAVAILABLE));
            }
        }
        assertEquals(2, w.fact(NodeDrained.class).leftBlocks());
    }

    @Test
    void nothingIsFetchedOnANodeThatDrains() {
        List<Bytes> path = Agent.path("p", 5);
        drain("d", true);
        w.input(a.submit("r", path).store(0, 5).event());
        assertEquals(List.of(), w.commands(PrefetchBlocks.class));
        assertEquals(RequestReason.DRAINING, w.command(ResumeRequest.class).reason());

        drain("u", false);
        w.input(a.submit("s", path).store(0, 5).event());
        assertEquals(1, w.commands(PrefetchBlocks.class).size());
    }

    @Test
    void aRequestIsDoneOnce() {
        drain("d", true);
        assertTrue(ShareRows.orNothing(w.node(a).shares()).draining());
        drain("d", true);
        assertRefused(RefusalReason.REPEATED, w.last);
        drain("e", false);
        assertFalse(ShareRows.orNothing(w.node(a).shares()).draining());
        w.input(new NodeDrainRequested(operator("node/a"), "f", true, "engine-1"));
        assertRefused(RefusalReason.MIGRATION_INVALID, w.last); // there is no such engine
        w.input(new NodeDrainRequested(operator("node/x"), "f", true, null));
        assertRefused(RefusalReason.NODE_UNKNOWN, w.last);
    }

    private void drainInstance(String request, boolean drain, String instance) {
        w.input(new NodeDrainRequested(operator("node/a"), request, drain, instance));
    }

    private void attach(String instance) {
        w.input(new EngineAttached(a.envelope(), instance, 16, w.node(a).layoutDigest(), Map.of()));
    }

    /** Nothing is fetched for its requests; those of another instance, and what is on the node, are left alone. */
    @Test
    void oneInstanceDrainsAlone() {
        onHost(1, 2);
        attach("engine-1");
        attach("engine-2");
        drainInstance("d", true, "engine-1");
        assertEquals(List.of("engine-1"), ShareRows.orNothing(w.node(a).shares()).drainingInstances());
        assertFalse(ShareRows.orNothing(w.node(a).shares()).draining());

        w.input(a.submit("r", Agent.path("p", 5)).store(0, 5).of("engine-1").event());
        assertEquals(List.of(), w.commands(PrefetchBlocks.class));
        assertEquals(RequestReason.DRAINING, w.command(ResumeRequest.class).reason());
        w.input(a.submit("s", Agent.path("q", 5)).store(0, 5).of("engine-2").event());
        assertEquals(1, w.commands(PrefetchBlocks.class).size());
        assertEquals(List.of(), tick(), "what is on the host is the group's");

        w.input(new EngineDetached(a.envelope(), "engine-1", true));
        drainInstance("e", true, "engine-1");
        assertEquals(List.of("engine-1"), ShareRows.orNothing(w.node(a).shares()).drainingInstances(), "gone or not, until that is taken back");
        drainInstance("f", false, "engine-1");
        w.input(a.submit("t", Agent.path("t", 5)).store(0, 5).of("engine-1").event());
        assertEquals(1, w.commands(PrefetchBlocks.class).size());
        drainInstance("g", true, "engine-1");
        assertRefused(RefusalReason.MIGRATION_INVALID, w.last);
    }

    /** Under WRITE_THROUGH_SELECTIVE what was used once stays on the device; but not when the engine goes away. */
    @Test
    void whatItsRequestsHaveComputedIsSavedAtTheirEnd() {
        Policy p = World.POLICY;
        w.policy(new Policy(2, WritePolicy.WRITE_THROUGH_SELECTIVE, 0.9, 0.8, 0.9, 0.8, true, 100, 1_000, 5_000, 3, true, p.migration(), p.fetch()));
        attach("engine-1");
        attach("engine-2");
        drainInstance("d", true, "engine-1");
        for (String instance : List.of("engine-1", "engine-2")) {
            List<Bytes> path = Agent.path(instance.substring(6), 2);
            w.input(a.submit("of-" + instance, path).of(instance).event());
            w.input(a.sealed("of-" + instance, 1, Agent.paged(path, 0, 2, instance.equals("engine-1") ? 0 : 8)));
            assertEquals(List.of(), w.commands(WriteBackBlocks.class), "once is not twice");
            w.input(a.finished("of-" + instance, 1));
            assertEquals(instance.equals("engine-1") ? 1 : 0, w.commands(WriteBackBlocks.class).size());
        }
    }

    /** Its agent restarts: the node still drains, and is scanned again. */
    @Test
    void aDrainOutlivesTheAgent() {
        drain("d", true);
        w.tick();
        assertEquals(1, w.facts(NodeDrained.class).size());
        w.input(a.stopping());
        Agent next = w.register(new Agent("a", "a-2", 100, 100));
        w.warm(next, "r", List.of(key(1)), 0);
        assertEquals(1, tick().size());
    }

    /** The name of an instance is of 50,000 characters with two halves each; the cut is not between two halves. */
    @ParameterizedTest
    @CsvSource({"3, 100057", "4, 8194"})
    void aRefusalDoesNotRepeatALongTextOfItsInput(int version, int length) {
        World world = new World(version);
        world.register(new Agent("a", "a-1", 10, 10));
        // The detail begins with 19 characters, so a pair begins at every second one from there on.
        world.input(new NodeDrainRequested(operator("node/a"), "d", true, "\ud83d\ude00".repeat(50_000)));
        InputRefused refused = world.fact(InputRefused.class);
        assertEquals(length, refused.detail().length());
        assertEquals(refused.detail(), new String(refused.detail().getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
    }
}
