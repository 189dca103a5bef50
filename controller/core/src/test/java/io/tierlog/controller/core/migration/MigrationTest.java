/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationProgress;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.MigrationCompleted;
import io.tierlog.schemas.decision.MigrationDeclined;
import io.tierlog.schemas.decision.MigrationSubmitted;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.MigrationAssigned;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.MigrationReported;
import io.tierlog.schemas.event.OperationCancelled;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.PlacementState;
import io.tierlog.schemas.state.TaskRow;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The course of a migration: ordered, split by node, copied, dropped at its source, reported, cancelled. */
class MigrationTest extends MigrationScene {
    private @Nullable MigrationRow row(String id) {
        return w.tables.get(Rows.MIGRATIONS, new RowKey.Aggregate("migration/" + id));
    }

    private MigrationState state(String id) {
        return Objects.requireNonNull(row(id)).state();
    }

    private @Nullable TaskRow task(String id) {
        return w.tables.get(Rows.TASKS, new RowKey.Text(a.aggregate(), id));
    }

    private CopyBlocks copyOf(int name) {
        return copies().stream().filter(c -> c.blocks().getFirst().block().key().equals(key(name))).findFirst().orElseThrow();
    }

    /** Sends an event of the agent, and delivers the node's reports to migrations. */
    private void say(Event event) {
        w.input(event);
        relay();
        DecideResult of = w.last;
        deliver();
        w.last = of;
    }

    @Test
    void aMigrationRunsFromItsRequestToItsEnd() {
        onHost(1, 2);
        assertEquals("MigrationOpened", names(w.input(requested("m", order(MigrationMethod.COPY, Tier.DISK, 1, 2, 3), "a"))));
        assertEquals(MigrationState.SUBMITTED, state("m"));
        relay();
        deliver();
        assertEquals(MigrationState.RUNNING, state("m"));
        assertEquals("MigrationTaken OperationIssued MigrationSubmitted OperationIssued MigrationSubmitted MigrationRejected", names(decided));

        say(done(copyOf(1)));
        assertEquals("BlocksPlaced OperationEnded MigrationCompleted OperationIssued", w.factNames());
        DropBlocks drop = w.command(DropBlocks.class);
        assertEquals(List.of(Tier.HOST, Tier.DISK), List.of(drop.tier(), drop.reliesOn()));
        assertEquals(MigrationState.RUNNING, state("m"));
        assertEquals(new MigrationProgress(1, 1, 0, BLOCK), Objects.requireNonNull(task("m")).progress());
        say(failed(copyOf(2), OperationReason.IO));
        assertEquals("OperationEnded MigrationCompleted", w.factNames());
        assertEquals(MigrationState.DONE, state("m"));
        assertEquals(new MigrationProgress(0, 1, 1, BLOCK), Objects.requireNonNull(row("m")).parts().getFirst().progress());

        say(gone(drop));
        assertEquals(RemovalReason.MIGRATED, w.fact(BlocksRemoved.class).reason());
        assertEquals(0, w.fact(BlocksRemoved.class).lastCopiesLost());
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.HOST, key(1)));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.DISK, key(1)));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, key(2)));
        assertNull(w.node(a).shares() == null || Objects.requireNonNull(w.node(a).shares()).routes().isEmpty() ? null : "no slot is taken");
    }

    private static String names(DecideResult decided) {
        return String.join(" ", decided.facts().stream().map(f -> f.getClass().getSimpleName()).toList());
    }

    @Test
    void theCompletionSaysHowLongItTook() {
        onHost(1);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));
        say(done(copyOf(1)));

        MigrationCompleted end = w.fact(MigrationCompleted.class);
        assertEquals(List.of(MigrationMethod.COPY, MigrationMethod.UNKNOWN, OperationState.DONE, OperationReason.COMPLETED),
                List.of(end.method(), end.fallbackFrom(), end.state(), end.reason()));
        assertEquals(List.of(1L, 0L, BLOCK, 1_234L), List.of((long) end.doneBlocks(), (long) end.failedBlocks(), end.movedBytes(),
                end.durationMicros()));
    }

    @Test
    void whatIsKeptStaysAndServes() {
        onHost(1);
        MigrationOrder o = order(MigrationMethod.COPY, Tier.STORE, 1);
        ask("m", new MigrationOrder(o.method(), o.source(), o.target(), Retention.KEEP_BOTH, o.blocks(), null, null, false));
        assertEquals(PlacementState.COPYING_KEEP, w.state(a, Tier.HOST, key(1)));

        say(done(copyOf(1)));

        assertEquals("BlocksBackedUp OperationEnded MigrationCompleted", w.factNames());
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, key(1)));
        assertTrue(Objects.requireNonNull(w.copy(a, Tier.HOST, key(1))).stored());
    }

    @Test
    void whatGoesToTheStoreLeavesTheHostOnceItIsThere() {
        onHost(1);
        ask("m", order(MigrationMethod.COPY, Tier.STORE, 1));
        say(done(copyOf(1)));
        assertEquals("BlocksBackedUp OperationEnded MigrationCompleted OperationIssued", w.factNames());
        assertEquals(Tier.STORE, w.command(DropBlocks.class).reliesOn());
        say(gone(w.command(DropBlocks.class)));
        assertEquals(0, w.fact(BlocksRemoved.class).lastCopiesLost());
    }

    /** From the end of a prefix: the block above goes when the one below has. */
    @Test
    void aPrefixGetsNoHole() {
        List<Bytes> x = Agent.path("x", 2);
        w.warm(a, "x", x, 0);
        MigrationOrder o = order(MigrationMethod.COPY, Tier.DISK);
        ask("m", new MigrationOrder(o.method(), o.source(), o.target(), o.retention(), List.of(new BlockName(Agent.NAMESPACE, x.get(0))), null, null,
                false));
        say(done(copies().getFirst()));
        assertEquals(List.of(), w.commands(DropBlocks.class), "x1 extends it");
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, x.get(0)));

        ask("n", new MigrationOrder(o.method(), o.source(), Tier.STORE, o.retention(), List.of(new BlockName(Agent.NAMESPACE, x.get(0)),
                new BlockName(Agent.NAMESPACE, x.get(1))), null, null, false));
        assertEquals(List.of(x.get(1), x.get(0)), copies().stream().map(c -> c.blocks().getFirst().block().key()).toList(), "the deeper first");
        List<CopyBlocks> copies = copies();
        say(done(copies.get(0)));
        assertEquals(x.get(1), w.command(DropBlocks.class).blocks().getFirst().block().key());
        say(done(copies.get(1)));
        assertEquals(x.get(0), w.command(DropBlocks.class).blocks().getFirst().block().key());
    }

    /** A hit while it was copied: its source is in use again. */
    @Test
    void whatIsUsedMeanwhileStays() {
        onHost(1);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));
        CopyBlocks copy = copyOf(1);
        w.input(a.submit("hit", List.of(key(1))).answered().event());
        say(done(copy));
        assertEquals(List.of(), w.commands(DropBlocks.class));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, key(1)));
    }

    /** The agent evicts it on its own while the bytes move, and it is written back again: the copied block is not the one that is there. */
    @Test
    void aSourceThatWasWrittenAgainStays() {
        onHost(1);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));
        CopyBlocks copy = copyOf(1);
        w.input(a.evicted(Tier.HOST, RemovalReason.CHECKSUM, copy.blocks()));
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.HOST, key(1)));
        w.warm(a, "again", List.of(key(1)), 77);
        say(done(copy));
        assertEquals(List.of(), w.commands(DropBlocks.class));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, key(1)));
    }

    /** The disk loses the block on its way to the store and gets it from the host again, as unused as before: that copy was not read, and stays. */
    @Test
    void aSourceThatWasWrittenAgainFromTheHostStays() {
        onHost(1);
        Policy p = policy(8, false, MarkClearing.ON_WRITE);
        MigrationRoute down = new MigrationRoute(Tier.HOST, Tier.DISK, 0.9, true, false, Retention.KEEP_BOTH, 8, 1L << 30);
        MigrationRoute out = new MigrationRoute(Tier.DISK, Tier.STORE, 0.9, true, false, Retention.DELETE_SOURCE, 8, 1L << 30);
        GroupPolicy g = new GroupPolicy("g", List.of(Agent.NAMESPACE), null, List.of(), List.of(down, out));
        w.policy(new Policy(2, p.writePolicy(), 0, 0, 0, 0, false, 3, 1_000, 5_000, 0, false,
                new MigrationPolicy(86_400_000, MarkClearing.ON_WRITE, 8, 1L << 30, List.of(g)), null));
        ask("down", keeping(Tier.HOST, Tier.DISK, Retention.KEEP_BOTH));
        say(done(copyOf(1)));
        ask("out", keeping(Tier.DISK, Tier.STORE, Retention.DELETE_SOURCE));
        CopyBlocks out1 = copyOf(1);
        w.input(a.evicted(Tier.DISK, RemovalReason.CHECKSUM, out1.blocks()));
        ask("again", keeping(Tier.HOST, Tier.DISK, Retention.KEEP_BOTH));
        say(done(copyOf(1)));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.DISK, key(1)));

        say(done(out1));

        assertEquals(OperationState.DONE, w.fact(MigrationCompleted.class).state());
        assertEquals(List.of(), w.commands(DropBlocks.class));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.DISK, key(1)));
    }

    private static MigrationOrder keeping(Tier source, Tier target, Retention retention) {
        return new MigrationOrder(MigrationMethod.COPY, source, target, retention, List.of(name(1)), null, null, false);
    }

    @Test
    void aSourceThatIsLostIsGone() {
        onHost(1);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));
        say(failed(copyOf(1), OperationReason.SOURCE_LOST));
        assertEquals("BlocksRemoved OperationEnded MigrationCompleted", w.factNames());
        assertEquals(OperationReason.SOURCE_LOST, w.fact(MigrationCompleted.class).reason());
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.HOST, key(1)));
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.DISK, key(1)));
    }

    /** A list that is longer than ordered, or about another block: it has failed as a whole, and the target is emptied again. */
    @Test
    void aReportOfOtherBlocksIsAMismatch() {
        onHost(1, 2);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1, 2));
        CopyBlocks first = copyOf(1);
        List<BlockResult> longer = new ArrayList<>(done(first).blocks());
        longer.add(arrived(new Block(0, key(9), Bytes.EMPTY), Tier.HOST));

        say(done(first, longer));

        assertEquals("BlocksPlaced OperationEnded MigrationCompleted OperationIssued", w.factNames());
        MigrationCompleted end = w.fact(MigrationCompleted.class);
        assertEquals(List.of(OperationState.FAILED, OperationReason.COPY_RESULT_MISMATCH), List.of(end.state(), end.reason()));
        assertEquals(List.of(0, 1), List.of(end.doneBlocks(), end.failedBlocks()));
        DropBlocks drop = w.command(DropBlocks.class);
        assertEquals(List.of(Tier.DISK, Tier.HOST), List.of(drop.tier(), drop.reliesOn()));
        assertEquals(List.of(key(1)), drop.blocks().stream().map(b -> b.block().key()).toList(), "9 is nowhere else");
        say(gone(drop));
        assertEquals(PlacementState.ABSENT, w.state(a, Tier.DISK, key(1)));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, key(1)));
        say(done(copyOf(2), List.of()));
        assertEquals(OperationReason.COPY_RESULT_MISMATCH, w.fact(MigrationCompleted.class).reason());
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, key(2)));
    }

    /**
     * The host is above its mark and has nothing below it to write to: the last copy may go, but not while the one on the disk leaves because
     * the host has it. Found by seed 7759.
     */
    @Test
    void whatADropReliesOnStaysOnAFullHost() {
        onHost(1);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));
        CopyBlocks copy = copyOf(1);
        Policy p = policy(8, true, MarkClearing.ON_WRITE);
        w.policy(new Policy(2, p.writePolicy(), 0.01, 0.01, 0, 0, false, 3, 1_000, 5_000, 0, false, p.migration(), null));
        List<BlockResult> longer = new ArrayList<>(done(copy).blocks());
        longer.add(arrived(new Block(0, key(9), Bytes.EMPTY), Tier.HOST));

        say(done(copy, longer));
        DropBlocks drop = w.command(DropBlocks.class);
        assertEquals(List.of(Tier.DISK, Tier.HOST), List.of(drop.tier(), drop.reliesOn()));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, key(1)));

        say(gone(drop));
        assertEquals(List.of(RemovalReason.MIGRATED, 0), List.of(w.fact(BlocksRemoved.class).reason(), w.fact(BlocksRemoved.class).lastCopiesLost()));
        w.tick();
        DropBlocks last = w.command(DropBlocks.class);
        assertEquals(List.of(Tier.HOST, Tier.UNKNOWN), List.of(last.tier(), last.reliesOn()));
    }

    @Test
    void askedTwiceItIsOneTask() {
        onHost(1);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));
        w.input(requested("m", order(MigrationMethod.COPY, Tier.DISK, 1), "a"));
        assertRefused(RefusalReason.REPEATED, w.last);
        assertEquals(List.of(), w.last.messages());
    }

    /** It names a block twice, so it has failed as a whole; what has come is dropped again, once. */
    @Test
    void aReportThatNamesABlockTwiceIsTakenBackOnce() {
        onHost(1);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));
        CopyDone done = done(copies().getFirst());

        w.input(done(copies().getFirst(), List.of(done.blocks().getFirst(), done.blocks().getFirst())));

        assertEquals(List.of(key(1)), w.commands(DropBlocks.class).getFirst().blocks().stream().map(b -> b.block().key()).toList());
    }

    /** The names of 400 blocks, 279,200 bytes, were 95,200 characters for the version before; its node took such an order. */
    @Test
    void anOrderOfAnOlderVersionThatIsTooLongIsAnsweredWithoutNames() {
        MigrationOrder order = named("€".repeat(230), 400);
        World old = new World(CoreVersion.UNBOUNDED_NAMES);
        old.input(requested("m", order, "a"));
        assertEquals(List.of(), old.facts(MigrationDeclined.class));

        w.input(new MigrationAssigned(new Envelope(a.aggregate(), "migration/m", 0, 1, 0, 0, null, null, null), order, 1));
        assertRefused(RefusalReason.MIGRATION_INVALID, w.last);
        MigrationReported answer = (MigrationReported) w.last.messages().getFirst().message();
        assertEquals(List.of(MigrationRefusal.TARGET_UNAVAILABLE), Objects.requireNonNull(answer.answer()).reasons());
        assertEquals(List.of(), answer.answer().refused());
    }

    private static MigrationOrder named(String namespace, int blocks) {
        List<BlockName> names = IntStream.range(0, blocks).mapToObj(i -> new BlockName(namespace, key(i))).toList();
        return new MigrationOrder(MigrationMethod.COPY, Tier.HOST, Tier.DISK, Retention.KEEP_BOTH, names, null, null, false);
    }

    /** All errors are reported at once, and no node is asked. */
    @Test
    void anOrderThatIsNotRightIsDeclinedWithAllFindings() {
        MigrationOrder bad = new MigrationOrder(MigrationMethod.UNKNOWN, Tier.DISK, Tier.HOST, Retention.UNKNOWN, List.of(name(1)),
                new SampleRule(0, -1, ""), 0L, false);
        w.input(requested("m", bad, "a", "a", "n/x"));
        List<String> findings = w.fact(MigrationDeclined.class).findings();
        assertEquals(10, findings.size(), () -> String.join("\n", findings));
        assertRefused(RefusalReason.MIGRATION_INVALID, w.last);
        assertEquals(List.of(), w.last.messages());
        assertNull(row("m"));

        MigrationOrder unknown = order(MigrationMethod.MARK, Tier.UNKNOWN, 1);
        w.input(requested("m", unknown, "a"));
        assertEquals(List.of("target must be DISK or STORE"), w.fact(MigrationDeclined.class).findings());
        w.input(requested("m", order(MigrationMethod.COPY, Tier.DISK, new int[4_097]), "a"));
        assertEquals(1, w.fact(MigrationDeclined.class).findings().size());
        w.input(requested("m", order(MigrationMethod.COPY, Tier.DISK, new int[2_049]), "a", "b"));
        assertEquals(1, w.fact(MigrationDeclined.class).findings().size());
        w.input(requested("m", order(MigrationMethod.COPY, Tier.DISK), "a"));
        assertEquals(List.of("blocks must be named, or a sample be taken"), w.fact(MigrationDeclined.class).findings());

        // 400 blocks in a namespace of 230 characters are 95,200 bytes of ASCII, and 279,200 where a character has three.
        w.input(requested("ascii", named("a".repeat(230), 400), "a"));
        assertEquals(List.of(), w.facts(MigrationDeclined.class));
        w.input(requested("m", named("€".repeat(230), 400), "a"));
        assertEquals(List.of("namespaces and keys have at most 262144 bytes over all nodes"), w.fact(MigrationDeclined.class).findings());
    }

    @Test
    void anUnregisteredNodeRefusesEveryBlock() {
        onHost(1);
        w.input(requested("m", order(MigrationMethod.COPY, Tier.DISK, 1, 2), "a", "x"));
        relay();
        deliver();
        assertEquals(MigrationState.RUNNING, state("m"));
        var answer = Objects.requireNonNull(Objects.requireNonNull(row("m")).parts().get(1).answer());
        assertEquals(List.of(MigrationRefusal.NODE_UNKNOWN, MigrationRefusal.NODE_UNKNOWN), answer.reasons());
    }

    @Test
    void aMigrationOfWhichNothingIsAcceptedIsRejected() {
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));
        assertEquals(MigrationState.REJECTED, state("m"));
        onHost(2);
        ask("n", order(MigrationMethod.MARK, Tier.DISK, 2));
        assertEquals(MigrationState.DONE, state("n"));
    }

    @Test
    void messagesThatAreRepeatedChangeNothing() {
        onHost(1);
        w.input(requested("m", order(MigrationMethod.COPY, Tier.DISK, 1), "a"));
        var assigned = w.last.messages().getFirst().message();
        w.input(assigned);
        var reported = (MigrationReported) w.last.messages().getFirst().message();
        w.input(assigned);
        assertRefused(RefusalReason.REPEATED, w.last);
        assertEquals(List.of(), w.last.messages());
        assertEquals(List.of(), w.last.commands());
        w.input(reported);
        assertEquals(MigrationState.RUNNING, state("m"));
        assertEquals(List.of(name(1)), Objects.requireNonNull(Objects.requireNonNull(row("m")).parts().getFirst().answer()).copied());
        assertEquals(MigrationState.RUNNING, state("m"));
        w.input(reported);
        assertRefused(RefusalReason.REPEATED, w.last);
        w.input(new MigrationReported(operator("migration/m"), "a", null, reported.progress(), reported.request()));
        assertRefused(RefusalReason.WRONG_AGGREGATE, w.last);
        w.input(new MigrationReported(operator("migration/unknown"), "a", null, reported.progress(), reported.request()));
        assertRefused(RefusalReason.MIGRATION_UNKNOWN, w.last);
    }

    /** The slot stays taken until the copy has really ended. */
    @Test
    void aRunningMigrationIsCancelled() {
        w.policy(policy(1, true, io.tierlog.schemas.MarkClearing.ON_WRITE));
        onHost(1, 2);
        w.input(new MigrationCancelRequested(operator("migration/m")));
        assertRefused(RefusalReason.MIGRATION_UNKNOWN, w.last);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));
        CopyBlocks copy = copyOf(1);

        w.input(new MigrationCancelRequested(operator("migration/m")));
        assertEquals(Outcome.APPLIED, w.last.outcome());
        relay();
        deliver();
        CancelOperation cancel = decided.commands().stream().map(CancelOperation.class::cast).findFirst().orElseThrow();
        assertEquals(copy.operation(), cancel.operation());
        assertEquals(cancel.header().commandSequence(), w.node(a).commandSequence());
        assertEquals(MigrationState.CANCELLING, state("m"));
        w.input(new MigrationCancelRequested(operator("migration/m")));
        assertRefused(RefusalReason.REPEATED, w.last);
        assertEquals(List.of(MigrationRefusal.OUT_OF_BUDGET), ask("n", order(MigrationMethod.COPY, Tier.DISK, 2)).reasons());

        say(new OperationCancelled(a.envelope(), copy.operation(), OperationReason.NEVER_STARTED, "", List.of()));
        assertEquals(OperationState.CANCELLED, w.fact(MigrationCompleted.class).state());
        assertEquals(MigrationState.CANCELLED, state("m"));
        assertEquals(PlacementState.SERVING, w.state(a, Tier.HOST, key(1)));
        w.input(new MigrationCancelRequested(operator("migration/m")));
        assertRefused(RefusalReason.TOO_LATE, w.last);
        assertEquals(List.of(), ask("o", order(MigrationMethod.COPY, Tier.DISK, 2)).reasons());
    }

    /** Its incarnation ends in mid-copy: fenced once, and the migration receives the end. */
    @Test
    void copiesOfAnEndedIncarnationAreFencedOnce() {
        onHost(1, 2);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1, 2));
        List<CopyBlocks> copies = copies();
        say(a.stopping());
        assertEquals(2, w.facts(MigrationCompleted.class).size());
        assertEquals(MigrationState.DONE, state("m"));
        assertEquals(new MigrationProgress(0, 0, 2, 0), Objects.requireNonNull(row("m")).parts().getFirst().progress());
        Agent next = w.register(new Agent("a", "a-2", 100, 100));
        w.input(new io.tierlog.schemas.event.CopyDone(next.envelope(), copies.getFirst().operation(), Tier.HOST, Tier.DISK, Agent.NAMESPACE,
                done(copies.getFirst()).blocks(), 0, 1));
        assertEquals(List.of(), w.facts(MigrationCompleted.class), "adopted as an orphan, completed no second time");
        assertEquals(PlacementState.SERVING, w.state(next, Tier.DISK, copies.getFirst().blocks().getFirst().block().key()));
    }

    @Test
    void endedMigrationsAreForgottenADayLater() {
        onHost(1);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));
        w.tick(86_400_000);
        assertNotNull(row("m"), "it runs");
        say(failed(copyOf(1), OperationReason.IO));
        w.tick(86_399_999);
        assertNotNull(row("m"));
        w.tick(86_400_000);
        assertNull(row("m"));
        assertNull(task("m"));
    }

    /** Submitted = done + failed + cancelled + fenced, and the last report has the sum. */
    @Test
    void aThousandRandomOutcomesAddUp() {
        Random random = new Random(5);
        Map<OperationState, Integer> ends = new EnumMap<>(OperationState.class);
        int submitted = 0;
        Agent agent = a;
        for (int i = 0; i < 1_000; i++) {
            int name = 10_000 + i;
            w.warm(agent, "w" + i, List.of(key(name)), 100 + i % 50);
            ask("m" + i, order(MigrationMethod.COPY, Tier.DISK, name));
            CopyBlocks copy = copies().getFirst();
            Event end = switch (random.nextInt(5)) {
                case 0 -> with(agent, failed(copy, OperationReason.IO));
                case 1 -> new OperationCancelled(agent.envelope(), copy.operation(), OperationReason.CANCELLED, "", List.of());
                case 2 -> new CommandRefused(agent.envelope(), copy.header().command(), copy.header().commandSequence(), copy.operation(),
                        OperationReason.QUEUE_FULL, "");
                default -> with(agent, done(copy));
            };
            submitted += (int) decided.facts().stream().filter(MigrationSubmitted.class::isInstance).count();
            if (random.nextInt(20) == 0) {
                end = agent.stopping();
            }
            say(end);
            w.facts(MigrationCompleted.class).forEach(f -> ends.merge(f.state(), 1, Integer::sum));
            while (w.node(agent).sweep() != null) {
                w.tick();
                w.facts(MigrationCompleted.class).forEach(f -> ends.merge(f.state(), 1, Integer::sum));
                relay();
                DecideResult of = w.last;
                deliver();
                w.last = of;
            }
            w.commands(DropBlocks.class).forEach(drop -> drops.add(drop));
            for (DropBlocks drop : drops) {
                w.input(new io.tierlog.schemas.event.DropDone(agent.envelope(), drop.operation(), drop.tier(), Agent.NAMESPACE,
                        Agent.gone(drop.blocks())));
            }
            drops.clear();
            if (!w.node(agent).alive()) {
                agent = w.register(new Agent("a", "a-" + (i + 2), 100, 10_000));
                w.tick();
            }
            MigrationRow row = Objects.requireNonNull(row("m" + i));
            assertEquals(MigrationState.DONE, row.state());
            MigrationProgress progress = row.parts().getFirst().progress();
            assertEquals(1, progress.doneBlocks() + progress.failedBlocks());
        }
        assertEquals(1_000, submitted);
        assertEquals(submitted, ends.values().stream().mapToInt(Integer::intValue).sum());
        assertEquals(List.of(OperationState.DONE, OperationState.FAILED, OperationState.CANCELLED, OperationState.FENCED),
                List.copyOf(ends.keySet()));
    }

    private final List<DropBlocks> drops = new ArrayList<>();

    private static Event with(Agent agent, Event event) {
        return event.withEnvelope(agent.envelope());
    }

    /** One order of several blocks: each ends by itself, and each is reported. */
    @Test
    void theLastReportSaysThatNothingRuns() {
        onHost(1, 2, 3);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1, 2, 3));
        List<CopyBlocks> copies = copies();
        assertEquals(3, Objects.requireNonNull(report).progress().running());
        for (int i = 0; i < 3; i++) {
            assertEquals(MigrationState.RUNNING, state("m"));
            say(done(copies.get(i)));
            assertEquals(2 - i, Objects.requireNonNull(report).progress().running());
        }
        assertEquals(MigrationState.DONE, state("m"));
        assertEquals(4, Objects.requireNonNull(row("m")).parts().getFirst().reports());
    }

    @Test
    void aPageIsReadOfTheGenerationThatIsThere() {
        onHost(1);
        var held = Objects.requireNonNull(w.copy(a, Tier.HOST, key(1)));
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));
        PagedBlock read = copyOf(1).blocks().getFirst();
        assertEquals(List.of((long) held.page(), held.generation()), List.of((long) read.page(), read.generation()));
    }
}
