/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.MigrationLimits;
import io.tierlog.controller.core.evolve.NodeState;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.MarkRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MarkClearReason;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.ReleaseRequest;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.decision.MarkCleared;
import io.tierlog.schemas.decision.MarkConsumed;
import io.tierlog.schemas.decision.MarkExpired;
import io.tierlog.schemas.decision.MigrationCompleted;
import io.tierlog.schemas.decision.MigrationTaken;
import io.tierlog.schemas.decision.QuotaExceeded;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.CopyFailed;
import io.tierlog.schemas.event.MarksClearRequested;
import io.tierlog.schemas.event.MigrationAssigned;
import io.tierlog.schemas.event.WriteBackDone;
import io.tierlog.schemas.state.MarkRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Where marked blocks go when they are written. */
class MarkTest extends MigrationScene {
    private @Nullable MarkRow mark(int name) {
        return w.tables.get(Rows.MARKS, new RowKey.Mark(a.aggregate(), Namespaces.digest(Agent.NAMESPACE), key(name)));
    }

    @Test
    void aMarkedBlockGoesWhereItsMarkSaysAlsoFromAHostThatHasIt() {
        onHost(1);
        mark(Tier.DISK, null, 1);

        String request = seal(1);

        CopyBlocks copy = w.command(CopyBlocks.class);
        assertEquals(List.of(Tier.DEVICE, Tier.DISK), List.of(copy.source(), copy.target()));
        assertEquals(request, Objects.requireNonNull(copy.origin()).request());
        assertEquals(0, w.commands(WriteBackBlocks.class).size());
        w.input(done(copy));
        assertEquals("BlocksPlaced OperationEnded MigrationCompleted MarkConsumed", w.factNames());
        MigrationCompleted end = w.fact(MigrationCompleted.class);
        assertEquals(List.of(MigrationMethod.MARK, MigrationMethod.UNKNOWN, OperationState.DONE),
                List.of(end.method(), end.fallbackFrom(), end.state()));
        assertEquals(1_234, end.durationMicros());
        assertNull(mark(1));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.DISK, key(1)));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, key(1)));
    }

    @Test
    void theEventOfAFallbackSaysSo() {
        w.policy(policy(1, true, MarkClearing.ON_WRITE));
        onHost(1, 2);
        ask("m", order(MigrationMethod.BOTH, Tier.DISK, 1, 2));
        seal(2);

        w.input(done(w.command(CopyBlocks.class)));

        MigrationCompleted end = w.fact(MigrationCompleted.class);
        assertEquals(List.of(MigrationMethod.MARK, MigrationMethod.COPY), List.of(end.method(), end.fallbackFrom()));
        assertEquals("m", end.move().migration());
    }

    @Test
    void whatIsThereAlreadyIsNotWrittenAgain() {
        onHost(1);
        onDisk(1);
        mark(Tier.DISK, null, 1);

        seal(1);

        assertEquals(List.of(), w.commands(CopyBlocks.class));
        assertEquals(List.of(), w.commands(WriteBackBlocks.class));
        assertEquals(1, w.commands(ReleaseRequest.class).size());
        assertEquals("", w.fact(MarkConsumed.class).operation());
        assertNull(mark(1));
    }

    /** The disk's quota of the group is 0: ordinary policy, and the mark stays. */
    @Test
    void aTargetThatCannotTakeItLeavesTheMark() {
        onDevice(1, 2);
        mark(Tier.DISK, null, 1);
        GroupPolicy g = Objects.requireNonNull(policy(8, true, MarkClearing.ON_WRITE).migration()).groups().getFirst();
        w.policy(with(new GroupPolicy("g", g.namespaces(), null, List.of(new GroupTier(Tier.DISK, 0L, 0, 0)), g.routes())));

        seal(1);

        assertEquals(1, w.command(WriteBackBlocks.class).blocks().size());
        assertEquals(List.of(), w.commands(CopyBlocks.class));
        assertNotNull(mark(1));
    }

    private static Policy with(GroupPolicy group) {
        Policy p = policy(8, true, MarkClearing.ON_WRITE);
        return new Policy(p.prefetchThresholdBlocks(), p.writePolicy(), 0, 0, 0, 0, false, 3, 1_000, 5_000, 0, false,
                new MigrationPolicy(86_400_000, MarkClearing.ON_WRITE, 8, 1L << 30, List.of(group)), null);
    }

    private Policy hostQuota(long blocks) {
        GroupPolicy g = Objects.requireNonNull(policy(8, true, MarkClearing.ON_WRITE).migration()).groups().getFirst();
        return with(new GroupPolicy("g", g.namespaces(), null, List.of(new GroupTier(Tier.HOST, blocks * BLOCK, 0, 0)), g.routes()));
    }

    /** No space on the host: a marked block does not need it. */
    @Test
    void theDefaultTierIsNeededOnlyIfSomeBlockNeedsIt() {
        onDevice(1, 2, 3, 4);
        mark(Tier.DISK, null, 1, 2, 3);
        w.policy(hostQuota(0));

        seal(1, 2, 4);
        assertEquals(List.of(), w.commands(CopyBlocks.class), "as a whole");
        assertEquals(List.of(), w.commands(WriteBackBlocks.class));
        assertEquals(1, w.fact(QuotaExceeded.class).wantedBlocks());
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.DISK, key(1)));

        seal(1, 2, 3);
        assertEquals(3, w.command(CopyBlocks.class).blocks().size());
        w.input(done(w.command(CopyBlocks.class)));
        assertEquals(3, w.tier(a, Tier.DISK).usedBlocks());
    }

    @Test
    void aHostOfNothingTakesNothing() {
        Hostless none = new Hostless();
        none.onDevice(1, 2);
        none.mark(Tier.DISK, null, 1);
        none.seal(1, 2);
        assertEquals(1, none.w.facts(QuotaExceeded.class).size());
        assertEquals(List.of(), none.w.commands(CopyBlocks.class));

        none.seal(1);
        assertEquals(1, none.w.commands(CopyBlocks.class).size());
    }

    private static final class Hostless extends MigrationScene {
        Hostless() {
            super(policy(8, true, MarkClearing.ON_WRITE), 0);
        }
    }

    /** One write, two operations, and the request's pages are given back once. */
    @Test
    void aWriteGoesToSeveralTiers() {
        onDevice(1, 2, 3);
        mark(Tier.DISK, null, 1);
        mark(Tier.STORE, null, 3);

        seal(1, 2, 3);

        assertEquals(List.of(Tier.DISK, Tier.STORE), w.commands(CopyBlocks.class).stream().map(CopyBlocks::target).sorted().toList());
        WriteBackBlocks host = w.command(WriteBackBlocks.class);
        assertEquals(List.of(key(2)), host.blocks().stream().map(b -> b.block().key()).toList());
        List<CopyBlocks> copies = w.commands(CopyBlocks.class);
        assertEquals(List.of(), w.commands(ReleaseRequest.class));
        w.input(new WriteBackDone(a.envelope(), host.operation(), Agent.NAMESPACE, Agent.arrived(Blocks.of(host.blocks()), 50), 0, 0));
        assertEquals(List.of(), w.commands(CopyBlocks.class), "what is on its way is not written again");
        copies.forEach(copy -> w.input(done(copy)));
        assertNull(mark(1));
        assertNull(mark(3));
    }

    @Test
    void aWriteThatFailsLeavesTheMark() {
        onDevice(1);
        mark(Tier.DISK, null, 1);
        seal(1);
        assertNotNull(Objects.requireNonNull(mark(1)).operation());

        w.input(failed(w.command(CopyBlocks.class), OperationReason.IO));

        assertEquals("OperationEnded MigrationCompleted", w.factNames().replaceAll(" OperationIssued.*", ""));
        assertNotNull(mark(1));
    }

    /** Set at 2,000 ms without a time-out: 24 h later it is gone, and not a minute before. */
    @Test
    void aMarkWithoutATimeoutExpiresAfterADay() {
        onHost(1);
        mark(Tier.DISK, null, 1);
        w.tick(86_400_000 - 60_000);
        assertEquals(List.of(), w.facts(MarkExpired.class));
        assertNotNull(mark(1));

        w.tick(59_999);
        assertEquals(List.of(), w.facts(MarkExpired.class));
        w.tick(1);
        assertEquals(key(1), w.fact(MarkExpired.class).key());
        assertNull(mark(1));
    }

    /** No tick has passed its end yet when it counts no more. */
    @Test
    void theEndOfAFirstMarkLeavesItsRefresh() {
        onHost(1);
        mark(Tier.DISK, 1L, 1);
        mark(Tier.DISK, 10_000L, 1);

        w.tick(5);
        assertEquals(List.of(), w.facts(MarkExpired.class));
        assertNotNull(mark(1));
        w.tick(10_000);
        assertEquals(1, w.facts(MarkExpired.class).size());
        w.tick(10_000);
        assertEquals(List.of(), w.facts(MarkExpired.class));
    }

    /** Its time is over while an operation writes by it: its end is still of a mark. */
    @Test
    void aMarkThatExpiresUnderItsWriteIsGoneAfterIt() {
        w.policy(policy(1, true, MarkClearing.ON_WRITE));
        onHost(1, 2);
        MigrationOrder o = order(MigrationMethod.BOTH, Tier.DISK, 1, 2);
        ask("m", new MigrationOrder(o.method(), o.source(), o.target(), o.retention(), o.blocks(), null, 10L, false));
        seal(2);
        CopyBlocks copy = w.command(CopyBlocks.class);
        w.tick(10);
        assertEquals(1, w.facts(MarkExpired.class).size());
        w.tick(10);
        assertEquals(List.of(), w.facts(MarkExpired.class));

        w.input(failed(copy, OperationReason.IO));

        assertEquals(MigrationMethod.COPY, w.fact(MigrationCompleted.class).fallbackFrom());
        assertNull(mark(2));
    }

    @Test
    void aCopyThatLandsElsewhereDoesNotClearIt() {
        onHost(1);
        mark(Tier.STORE, null, 1);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));

        w.input(done(copies().getFirst()));

        assertEquals(List.of(), w.facts(MarkCleared.class));
        assertNotNull(mark(1));
    }

    /** A report of an agent is not trusted to name a block once. */
    @Test
    void aFailedCopyThatNamesABlockTwiceClearsItOnce() {
        onHost(1);
        mark(Tier.DISK, null, 1);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));
        CopyDone done = done(copies().getFirst());

        w.input(new CopyFailed(a.envelope(), done.operation(), done.source(), done.target(), OperationReason.IO, Agent.NAMESPACE,
                List.of(done.blocks().getFirst(), done.blocks().getFirst())));

        assertEquals(List.of(key(1)), w.fact(MarkCleared.class).keys());
        assertNull(mark(1));
    }

    /** The mark goes after the placement serves, in that order in the log. */
    @Test
    void aCopyThatLandsWhereItSaysClearsIt() {
        onHost(1);
        mark(Tier.DISK, null, 1);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));

        w.input(done(copies().getFirst()));

        assertEquals("BlocksPlaced OperationEnded MigrationCompleted MarkCleared OperationIssued", w.factNames());
        assertEquals(MarkClearReason.COPIED, w.fact(MarkCleared.class).reason());
        assertNull(mark(1));
    }

    @Test
    void underOnExpiryAMarkStaysUntilItsTime() {
        w.policy(policy(8, true, MarkClearing.ON_EXPIRY));
        onDevice(1);
        mark(Tier.DISK, 10_000L, 1);
        seal(1);
        w.input(done(w.command(CopyBlocks.class)));
        assertEquals(1, w.facts(MarkConsumed.class).size());
        assertNotNull(mark(1));

        seal(1);
        assertEquals(List.of(), w.commands(CopyBlocks.class), "it is there already");
        assertEquals(List.of(), w.commands(WriteBackBlocks.class));
        w.tick(10_000);
        assertNull(mark(1));
    }

    @Test
    void aGroupWithoutRoutesThatMarkNeverLooks() {
        onDevice(1);
        mark(Tier.DISK, null, 1);
        w.policy(policy(8, false, MarkClearing.ON_WRITE));

        seal(1);

        assertEquals(List.of(), w.commands(CopyBlocks.class));
        assertEquals(1, w.commands(WriteBackBlocks.class).size());
    }

    @Test
    void operatorsClearMarks() {
        onHost(1, 2, 3);
        mark(Tier.DISK, null, 1, 2);
        mark(Tier.STORE, null, 3);

        w.input(new MarksClearRequested(operator("node/a"), "c1", List.of(name(1), name(1), name(9))));
        assertEquals(List.of(key(1)), w.fact(MarkCleared.class).keys());
        w.input(new MarksClearRequested(operator("node/a"), "c1", List.of(name(1))));
        World.assertRefused(RefusalReason.REPEATED, w.last);
        w.input(new MarksClearRequested(operator("node/a"), "c2", List.of()));
        List<Bytes> left = w.facts(MarkCleared.class).stream().flatMap(f -> f.keys().stream()).toList();
        assertEquals(2, left.size());
        assertNull(mark(2));
        assertNull(mark(3));
    }

    /** 1,000 at each request, and fewer only when none is left; a mark whose time is over while it is written by takes no place. */
    @Test
    void aRequestForAllClearsSoManyAtATime() {
        int[] names = IntStream.rangeClosed(1, 1_001).toArray();
        onDevice(0);
        onDevice(names);
        mark(Tier.DISK, 10_000L, 0);
        seal(0);
        w.tick(10_000);
        assertEquals(MarkRows.OVER, Objects.requireNonNull(mark(0)).endMs());
        mark(Tier.DISK, null, names);

        assertEquals(List.of(1_000, 1), List.of(cleared(), cleared()));
        w.input(new MarksClearRequested(operator("node/a"), "c", List.of()));
        World.assertRefused(RefusalReason.REPEATED, w.last);
        assertNotNull(mark(0), "until the write has ended");
    }

    private int cleared() {
        w.input(new MarksClearRequested(operator("node/a"), "c", List.of()));
        return w.facts(MarkCleared.class).stream().mapToInt(f -> f.keys().size()).sum();
    }

    /** Space for 2 of 3: the last is refused. A mark that is there is refreshed, whatever the count. World compares the count with the rows. */
    @Test
    void aNodeHasSoManyMarks() {
        onHost(1, 2, 3, 4);
        mark(Tier.DISK, null, 4);
        count(MigrationLimits.DEFAULTS.marksPerNode() - 2);
        MigrationAnswer answer = marked(MigrationMethod.MARK, 1, 4, 2, 3);
        assertEquals(List.of(List.of(1, 4, 2), List.of(3)), List.of(numbers(answer.marked()), numbers(answer.refused())));
        assertEquals(List.of(MigrationRefusal.OUT_OF_BUDGET), answer.reasons());

        count(1);
        w.policy(policy(1, true, MarkClearing.ON_WRITE));
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 4));
        count(MigrationLimits.DEFAULTS.marksPerNode() - 2);
        answer = marked(MigrationMethod.BOTH, 1, 2, 3);
        assertEquals(List.of(List.of(1, 2), List.of(3)), List.of(numbers(answer.marked()), numbers(answer.refused())), "no slot is left");
        assertEquals(List.of(MigrationRefusal.OUT_OF_BUDGET), answer.reasons());
        count(1);
    }

    /** What the node answers, without that it becomes so: the tables are those of many more marks than there are. */
    private MigrationAnswer marked(MigrationMethod method, int... names) {
        MigrationAssigned assigned = new MigrationAssigned(new Envelope("node/a", "migration/many", 0, 1, 0, 0, null, null, null),
                order(method, Tier.DISK, names), -1);
        return w.core.decide(w.tables, new Input.Recorded(0, w.offset() + 1, assigned, 0)).facts().stream()
                .filter(MigrationTaken.class::isInstance).map(fact -> ((MigrationTaken) fact).answer()).findFirst().orElseThrow();
    }

    private void count(long marks) {
        NodeState node = NodeState.of(w.node(a));
        node.shares.marks = marks;
        w.tables.put(Rows.NODES, new RowKey.Aggregate("node/a"), node.toRow());
    }

    @Test
    void marksOutliveTheAgent() {
        onHost(1);
        mark(Tier.DISK, null, 1);
        w.input(a.stopping());
        Agent next = w.register(new Agent("a", "a-2", 100, 100));
        w.tick();
        assertNotNull(mark(1));
        w.input(next.submit("n", List.of(key(1))).answered().event());
        w.input(next.sealed("n", 1, Agent.paged(List.of(key(1)), 0, 1, 1)));
        w.input(next.finished("n", 1));
        assertEquals(1, w.commands(CopyBlocks.class).size());
    }
}
