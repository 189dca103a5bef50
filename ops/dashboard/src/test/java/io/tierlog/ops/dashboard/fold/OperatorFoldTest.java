/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.ops.dashboard.model.DrainRow;
import io.tierlog.ops.dashboard.model.MigrationRow;
import io.tierlog.ops.dashboard.model.Names;
import io.tierlog.ops.dashboard.model.PolicyAnswer;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.DrainEnd;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationProgress;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.MigrationRefused;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.MoveCause;
import io.tierlog.schemas.MoveTrigger;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.DrainAdvanced;
import io.tierlog.schemas.decision.DrainChanged;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.MigrationChanged;
import io.tierlog.schemas.decision.MigrationDeclined;
import io.tierlog.schemas.decision.MigrationNoted;
import io.tierlog.schemas.decision.MigrationOpened;
import io.tierlog.schemas.decision.MigrationRejected;
import io.tierlog.schemas.decision.NodeDrained;
import io.tierlog.schemas.decision.PolicyRefused;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/** What operators requested, restored from its rows after every fact. */
class OperatorFoldTest {
    private static final BlockName ONE = new BlockName("chat", Bytes.ofHex("0000000000000001"));
    private static final BlockName TWO = new BlockName("chat", Bytes.ofHex("0000000000000002"));
    private static final MigrationProgress MOVED = new MigrationProgress(0, 1, 0, 4_096);

    private PartitionFold fold = new PartitionFold(FoldLimits.DEFAULTS);
    private final Map<String, Row> kept = new LinkedHashMap<>();

    private void apply(long atMs, Fact fact) {
        fold.fact(fact, atMs);
        fold.takeChanges().forEach(row -> kept.put(new String(row.key(), StandardCharsets.UTF_8), row));
        fold = PartitionFold.restored(FoldLimits.DEFAULTS, List.copyOf(kept.values()));
    }

    private static Envelope about(String aggregate) {
        return new Envelope(aggregate, "controller/0", 0, 1, 0, 1, aggregate + "@7", null, null, null);
    }

    private MigrationRow migration(String id) {
        return StreamSupport.stream(fold.migrations().spliterator(), false).filter(row -> row.id().equals(id)).findFirst().orElseThrow();
    }

    /** Node a copies one of two blocks and refuses the other, which is in the migration's row with its reason; node b does not answer. */
    @Test
    void aMigrationHasItsStateAndWhatWasRefusedAndWhy() {
        MigrationOrder order = new MigrationOrder(MigrationMethod.COPY, Tier.HOST, Tier.DISK, Retention.KEEP_BOTH, List.of(ONE, TWO), null, null,
                false);
        apply(10, new MigrationOpened(about("migration/m"), List.of("a", "b"), order, 10));
        apply(11, new MigrationNoted(about("migration/m"), "a", 1,
                new MigrationAnswer(List.of(ONE), List.of(), List.of(TWO), List.of(MigrationRefusal.NOT_FOUND)), new MigrationProgress(1, 0, 0, 0)));
        apply(12, new MigrationNoted(about("migration/m"), "a", 2, null, MOVED));
        apply(13, new MigrationChanged(about("migration/m"), MigrationState.RUNNING, MigrationState.DONE));

        MigrationRow row = migration("m");
        assertEquals(List.of("DONE", "COPY", "HOST", "DISK", 2, 10L, 13L),
                List.of(row.state(), row.method(), row.source(), row.target(), row.wanted(), row.submittedMs(), row.endedMs()));
        assertEquals(Map.of("a", new MigrationRow.Part(true, 1, Map.of("NOT_FOUND", 1), 0, 1, 0, 4_096), "b", MigrationRow.UNANSWERED), row.parts());

        apply(20, new MigrationDeclined(about("migration/n"), List.of("the target is not colder", "no blocks")));
        assertEquals(List.of("REJECTED", "the target is not colder; no blocks"), List.of(migration("n").state(), migration("n").why()));
    }

    @Test
    void blocksThatWereNotMovedAreCountedByReason() {
        MoveCause route = new MoveCause(MoveTrigger.ROUTE, null, "gold", 0.6, 0.5, 1, Retention.KEEP_BOTH);
        apply(10, new MigrationRejected(about("node/a"), Tier.HOST, Tier.DISK, "chat",
                List.of(new MigrationRefused(MigrationRefusal.NOT_FOUND, List.of(ONE.key(), TWO.key()))), route));
        assertEquals(2, fold.total().counters().get(Names.rejected(MoveTrigger.ROUTE, Tier.HOST, Tier.DISK, MigrationRefusal.NOT_FOUND)));
    }

    @Test
    void aDrainHasItsPassAndWhatIsLeft() {
        apply(10, new DrainChanged(about("node/a"), "d-1", true, null));
        apply(11, new DrainChanged(about("node/a"), "d-2", true, "engine-1"));
        apply(12, new DrainAdvanced(about("node/a"), 1, Bytes.EMPTY, 2, 5));
        assertEquals(new DrainRow("a", true, List.of("engine-1"), 11, 1, 5, 2, 0), fold.drains().get("a"));
        apply(13, new NodeDrained(about("node/a"), 2, DrainEnd.TIME_OVER));
        assertEquals(13, fold.drains().get("a").doneMs());
        apply(14, new DrainChanged(about("node/a"), "d-3", false, null));
        assertEquals(new DrainRow("a", false, List.of("engine-1"), 14, 0, 0, 0, 0), fold.drains().get("a"));
    }

    @Test
    void aRefusedPolicyIsKeptWithItsFindings() {
        apply(10, new PolicyRefused(about("policy"), RefusalReason.STALE_POLICY, List.of("version 3 is in force")));
        assertEquals(List.of(new PolicyAnswer("rpolicy@7", 10, PolicyAnswer.REFUSED, 0, "STALE_POLICY: version 3 is in force")),
                StreamSupport.stream(fold.policyAnswers().spliterator(), false).toList());
    }
}
