/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.MigrationLimits;
import io.tierlog.controller.core.api.Outgoing;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.MigrationChanged;
import io.tierlog.schemas.decision.MigrationNoted;
import io.tierlog.schemas.event.Message;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.MigrationRecalled;
import io.tierlog.schemas.event.MigrationReported;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.PartRow;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A node that gives no answer: the message to it is under way for ever, or longer than a migration waits. */
class SilentNodeTest extends MigrationScene {
    private static final long ANSWER_MS = MigrationLimits.DEFAULTS.answerMs();

    private @Nullable MigrationRow row() {
        return w.tables.get(Rows.MIGRATIONS, new RowKey.Aggregate("migration/m"));
    }

    private MigrationState state() {
        return Objects.requireNonNull(row()).state();
    }

    private PartRow part(int index) {
        return Objects.requireNonNull(row()).parts().get(index);
    }

    private List<Message> messages() {
        return w.last.messages().stream().map(Outgoing::message).toList();
    }

    /** Of nodes a and x, a copies 1, and x sends nothing: to the last millisecond the migration is SUBMITTED, and shown so. */
    @Test
    void aNodeThatDoesNotAnswerInTimeHasRefused() {
        onHost(1);
        w.input(requested("m", order(MigrationMethod.COPY, Tier.DISK, 1, 2, 1), "a", "x"));
        Message toX = w.last.messages().get(1).message();
        underWay.add(w.last.messages().getFirst().message());
        deliver();
        w.input(done(copies().getFirst()));
        relay();
        deliver();
        w.tick(ANSWER_MS - 1);
        assertEquals(MigrationState.SUBMITTED, state());

        w.tick(1);

        MigrationNoted noted = w.fact(MigrationNoted.class);
        assertEquals(List.of("x", 0L), List.of(noted.node(), noted.report()));
        assertEquals(List.of(name(1), name(2)), Objects.requireNonNull(noted.answer()).refused());
        assertEquals(List.of(MigrationRefusal.TARGET_UNAVAILABLE, MigrationRefusal.TARGET_UNAVAILABLE), noted.answer().reasons());
        assertEquals(MigrationState.DONE, state());
        assertEquals(1, part(0).progress().doneBlocks());
        MigrationRecalled recalled = (MigrationRecalled) messages().getFirst();
        assertEquals(List.of("node/x", "migration/m"), List.of(recalled.envelope().aggregate(), recalled.envelope().sender()));
        assertEquals(1, messages().size());
        w.tick(ANSWER_MS);
        assertEquals(List.of(), w.facts(MigrationNoted.class), "it is recorded once");

        w.input(toX);
        w.input(messages().getFirst());
        assertEquals(MigrationRefusal.NODE_UNKNOWN, Objects.requireNonNull(part(1).answer()).reasons().getFirst());
        assertEquals(MigrationState.DONE, state(), "what comes late changes no end");
        w.tick(MigrationLimits.DEFAULTS.keptMs());
        w.tick();
        assertNull(row());
    }

    /** An order whose names fill a record has no space for them a second time; the version before, which took it, would try. */
    @ParameterizedTest
    @CsvSource({"3, 400", "4, 0"})
    void aTooLongOrderIsAnsweredWithoutNames(int version, int named) {
        List<BlockName> names = IntStream.range(0, 400).mapToObj(i -> new BlockName("\u20ac".repeat(230), key(i))).toList();
        HeapTables tables = new HeapTables();
        new Core(Limits.DEFAULTS, "", CoreVersion.UNBOUNDED_NAMES).step(tables, new Input.Recorded(0, 0, requested("m",
                new MigrationOrder(MigrationMethod.COPY, Tier.HOST, Tier.DISK, Retention.KEEP_BOTH, names, null, null, false), "x"), 0));

        DecideResult late = new Core(Limits.DEFAULTS, "", version).step(tables, new Input.Recorded(0, 1,
                new Tick(new Envelope("clock/0", "clock/0", 0, 1, 0, 0, null, null, null), ANSWER_MS), 0));

        MigrationNoted noted = (MigrationNoted) late.facts().stream().filter(MigrationNoted.class::isInstance).findFirst().orElseThrow();
        assertEquals(named, Objects.requireNonNull(noted.answer()).refused().size());
        assertEquals(MigrationRefusal.TARGET_UNAVAILABLE, noted.answer().reasons().getFirst());
    }

    /** No refusal is recorded for a node that has answered. */
    @Test
    void answersInTimeStand() {
        onHost(1);
        ask("m", order(MigrationMethod.COPY, Tier.DISK, 1));
        w.tick(ANSWER_MS);
        assertEquals(List.of(), w.facts(MigrationNoted.class));
        assertEquals(MigrationState.RUNNING, state());
    }

    /** The node was to choose: that none was named makes no success of it. */
    @Test
    void aSampleWithoutAnyNodeIsRejected() {
        w.input(requested("m", sample(5, 0), "x"));
        w.tick(ANSWER_MS);
        assertEquals(List.of(), Objects.requireNonNull(w.fact(MigrationNoted.class).answer()).refused());
        assertEquals(MigrationState.REJECTED, w.fact(MigrationChanged.class).to());
    }

    /** It was recalled when it was cancelled, and is not once more. */
    @Test
    void aCancelledOneIsCancelledThen() {
        w.input(requested("m", order(MigrationMethod.COPY, Tier.DISK, 1), "x"));
        w.input(new MigrationCancelRequested(operator("migration/m")));
        assertEquals(1, messages().size());
        w.tick(ANSWER_MS);
        assertEquals(MigrationState.CANCELLED, state());
        assertEquals(List.of(), messages());
    }

    /** The node took its part after the migration had ended, so it remembers the id when the migration is forgotten. */
    private void forgottenByTheMigrationAlone() {
        onHost(1, 2);
        w.input(requested("m", order(MigrationMethod.COPY, Tier.DISK, 1), "a"));
        Message order = messages().getFirst();
        w.tick(ANSWER_MS);
        assertEquals(MigrationState.REJECTED, state());
        w.tick(60_000);
        underWay.add(order);
        deliver();
        w.input(done(copies().getFirst()));
        relay();
        deliver();
        w.tick(MigrationLimits.DEFAULTS.keptMs() - 60_000);
        assertNull(row());
        assertNotNull(w.tables.get(Rows.TASKS, new RowKey.Text(a.aggregate(), "m")));
    }

    /** Not after an hour: the operator takes another id. */
    @Test
    void anIdThatANodeHasHadBeforeIsRefusedAtOnce() {
        forgottenByTheMigrationAlone();
        assertEquals(new MigrationAnswer(List.of(), List.of(), List.of(name(2)), List.of(MigrationRefusal.ID_USED)),
                ask("m", order(MigrationMethod.COPY, Tier.DISK, 2)));
        assertEquals(List.of(), copies());
        assertEquals(MigrationState.REJECTED, state());
        w.tick(ANSWER_MS);
        assertEquals(List.of(), w.facts(MigrationNoted.class));
        assertNotNull(ask("n", order(MigrationMethod.COPY, Tier.DISK, 2)).copied().getFirst());
    }

    @Test
    void aSampleUnderSuchAnIdIsRejectedToo() {
        forgottenByTheMigrationAlone();
        assertEquals(new MigrationAnswer(List.of(), List.of(), List.of(), List.of(MigrationRefusal.ID_USED)), ask("m", sample(5, 0)));
        assertEquals(MigrationState.REJECTED, state());
    }

    /** An id is used again, and the messages about the first migration of that name come once more. */
    @Test
    void messagesOfAnEarlierMigrationOfThatIdChangeNothing() {
        onHost(1, 2);
        w.input(requested("m", order(MigrationMethod.COPY, Tier.DISK, 1), "a"));
        Message order = messages().getFirst();
        underWay.add(order);
        deliver();
        w.input(new MigrationCancelRequested(operator("migration/m")));
        Message recall = messages().getFirst();
        w.input(done(copies().getFirst()));
        MigrationReported late = (MigrationReported) messages().getFirst();
        assertEquals(2, late.envelope().sequence());
        w.input(late);
        w.tick(MigrationLimits.DEFAULTS.keptMs());
        w.tick();
        assertNull(row());
        assertNotNull(ask("m", order(MigrationMethod.COPY, Tier.DISK, 2)).copied().getFirst());
        CopyBlocks copy = copies().getFirst();

        w.input(late);
        assertEquals(RefusalReason.MIGRATION_UNKNOWN, w.fact(InputRefused.class).reason());
        w.input(recall);
        assertEquals(RefusalReason.MIGRATION_UNKNOWN, w.fact(InputRefused.class).reason());
        assertEquals(List.of(), w.commands(CancelOperation.class));
        w.input(order);
        assertEquals(RefusalReason.REPEATED, w.fact(InputRefused.class).reason());
        w.input(messages().getFirst());
        assertEquals(RefusalReason.MIGRATION_UNKNOWN, w.fact(InputRefused.class).reason());
        assertEquals(MigrationState.RUNNING, state());

        w.input(done(copy));
        relay();
        deliver();
        assertEquals(MigrationState.DONE, state());
        assertEquals(1, part(0).progress().doneBlocks());
    }

    /** The order reaches the node after all, before its cancellation: the copy is cancelled, and its end is recorded. */
    @Test
    void whatBeginsTooLateIsStopped() {
        onHost(1);
        w.input(requested("m", order(MigrationMethod.COPY, Tier.DISK, 1), "a"));
        Message order = messages().getFirst();
        w.tick(ANSWER_MS);
        Message recall = messages().getFirst();
        assertEquals(MigrationState.REJECTED, state());

        w.input(order);
        MigrationReported late = (MigrationReported) messages().getFirst();
        w.input(recall);
        assertEquals(1, w.commands(CancelOperation.class).size());
        w.input(late);
        assertEquals(List.of(name(1)), Objects.requireNonNull(part(0).answer()).copied());
        assertEquals(MigrationState.REJECTED, state());
    }

    /** The order of the first migration comes again after all have forgotten it; the next one of that id gets no answer, and recalls. */
    @Test
    void aPartOfAnOrderThatCameAgainIsStoppedWithTheNextMigration() {
        onHost(1);
        w.input(requested("m", order(MigrationMethod.COPY, Tier.DISK, 1), "a"));
        Message order = messages().getFirst();
        w.input(new MigrationCancelRequested(operator("migration/m")));
        w.tick(ANSWER_MS);
        w.input(a.heartbeat());
        w.tick(MigrationLimits.DEFAULTS.keptMs());
        w.input(a.heartbeat());
        w.tick();
        assertNull(row());
        w.input(order);
        assertEquals(1, w.commands(CopyBlocks.class).size());
        w.input(requested("m", order(MigrationMethod.COPY, Tier.DISK, 1), "a"));
        w.tick(ANSWER_MS);
        w.input(messages().getFirst());
        assertEquals(1, w.commands(CancelOperation.class).size());
    }
}
