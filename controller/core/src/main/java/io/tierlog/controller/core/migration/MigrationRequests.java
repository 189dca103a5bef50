/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.api.MigrationLimits;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.MigrationRows;
import io.tierlog.controller.core.state.MigrationStates;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.decision.MigrationChanged;
import io.tierlog.schemas.decision.MigrationDeclined;
import io.tierlog.schemas.decision.MigrationNoted;
import io.tierlog.schemas.decision.MigrationOpened;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.MigrationAssigned;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.MigrationRecalled;
import io.tierlog.schemas.event.MigrationReported;
import io.tierlog.schemas.event.MigrationRequested;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.PartRow;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A migration that an operator requested: split by node, answers collected, cancelled and ended. Until its nodes have answered, its state is
 * SUBMITTED. A node that has not answered in time counts as having refused all blocks, and receives a request to cancel what it may still begin.
 * Without state.
 */
public final class MigrationRequests {
    private static final long ASSIGNED = 1;
    private static final long RECALLED = 2;

    private MigrationRequests() {}

    public static void requested(DecisionContext d, MigrationRequested e) {
        String aggregate = e.envelope().aggregate();
        Envelope about = d.envelope(aggregate, 0);
        if (!isOne(d, e)) {
            return;
        }
        List<String> findings = MigrationOrders.findings(d, e.nodes(), e.order());
        if (row(d, aggregate) != null) {
            d.refuse(about, e, RefusalReason.REPEATED, "This migration was asked for before");
        } else if (!findings.isEmpty()) {
            d.fact(new MigrationDeclined(about, findings));
            d.outcome(new Outcome.Refused(RefusalReason.MIGRATION_INVALID, String.join("; ", findings)));
        } else {
            long request = MigrationRows.named(d.clock(), d.offset());
            d.fact(new MigrationOpened(about, e.nodes(), e.order(), request));
            for (String node : e.nodes()) {
                d.message(new MigrationAssigned(d.messageEnvelope(Aggregates.NODE + node, aggregate, ASSIGNED), e.order(), request));
            }
        }
    }

    public static void cancel(DecisionContext d, MigrationCancelRequested e) {
        String aggregate = e.envelope().aggregate();
        Envelope about = d.envelope(aggregate, 0);
        MigrationRow row = isOne(d, e) ? known(d, e) : null;
        if (row == null) {
            return;
        }
        if (MigrationStates.isEnd(row.state())) {
            d.refuse(about, e, RefusalReason.TOO_LATE, "This migration is " + row.state());
        } else if (row.state() == MigrationState.CANCELLING) {
            d.refuse(about, e, RefusalReason.REPEATED, "This migration is being cancelled");
        } else {
            d.fact(new MigrationChanged(about, row.state(), MigrationState.CANCELLING));
            for (PartRow part : row.parts()) {
                d.message(new MigrationRecalled(d.messageEnvelope(Aggregates.NODE + part.node(), aggregate, RECALLED), row.request()));
            }
        }
    }

    public static void reported(DecisionContext d, MigrationReported e) {
        String aggregate = e.envelope().aggregate();
        Envelope about = d.envelope(aggregate, 0);
        MigrationRow row = isOne(d, e) ? known(d, e) : null;
        if (row == null) {
            return;
        }
        PartRow part = part(row, e.node());
        if (part == null || !e.envelope().sender().equals(Aggregates.NODE + e.node())) {
            d.refuse(about, e, RefusalReason.WRONG_AGGREGATE, "This migration has not asked " + e.envelope().sender() + " as node " + e.node());
        } else if (MigrationRows.isOther(row.request(), e.request())) {
            d.refuse(about, e, RefusalReason.MIGRATION_UNKNOWN, "This reports about an earlier migration of this id");
        } else if (e.envelope().sequence() <= part.reports()) {
            d.refuse(about, e, RefusalReason.REPEATED, "Report " + e.envelope().sequence() + " of " + e.node() + " was applied before");
        } else {
            MigrationNoted noted = new MigrationNoted(about, e.node(), e.envelope().sequence(), e.answer(), e.progress());
            d.fact(noted);
            MigrationState next = MigrationStates.next(MigrationRows.noted(row, noted));
            if (next != row.state()) {
                d.fact(new MigrationChanged(about, row.state(), next));
            }
        }
    }

    /** The time for answers is over: missing answers are recorded as refusals. A late answer is recorded, and changes no end state. */
    public static void unanswered(DecisionContext d, String aggregate) {
        MigrationRow row = row(d, aggregate);
        if (row == null) {
            return;
        }
        Envelope about = d.envelope(aggregate, 0);
        MigrationRow now = row;
        for (PartRow part : row.parts()) {
            if (part.answer() == null) {
                MigrationNoted noted = new MigrationNoted(about, part.node(), part.reports(), silence(d, row), part.progress());
                d.fact(noted);
                now = MigrationRows.noted(now, noted);
                if (row.state() != MigrationState.CANCELLING) {
                    d.message(new MigrationRecalled(d.messageEnvelope(Aggregates.NODE + part.node(), aggregate, RECALLED), row.request()));
                }
            }
        }
        MigrationState next = MigrationStates.next(now);
        if (next != row.state()) {
            d.fact(new MigrationChanged(about, row.state(), next));
        }
    }

    /** The answer recorded for a node that sends none: every named block is refused; for a sample, or a too long order, none is named. */
    private static MigrationAnswer silence(DecisionContext d, MigrationRow row) {
        List<BlockName> names = List.copyOf(new LinkedHashSet<>(row.order().blocks()));
        return d.clock().coreVersion() > CoreVersion.UNBOUNDED_NAMES && MigrationOrders.isTooLong(d, names)
                ? MigrationOrders.nothingOf(List.of(), MigrationRefusal.TARGET_UNAVAILABLE)
                : new MigrationAnswer(List.of(), List.of(), names, Collections.nCopies(names.size(), MigrationRefusal.TARGET_UNAVAILABLE));
    }

    /** Whether the event is about a migration; records when it is not. */
    private static boolean isOne(DecisionContext d, Event e) {
        String aggregate = e.envelope().aggregate();
        int most = MigrationLimits.DEFAULTS.idLength();
        if (!Aggregates.isMigration(aggregate)) {
            d.refuse(d.envelope(aggregate, 0), e, RefusalReason.WRONG_AGGREGATE, "This event is about a migration, not " + aggregate);
        } else if (aggregate.length() - Aggregates.MIGRATION.length() > most) {
            d.refuse(d.envelope(aggregate, 0), e, RefusalReason.OVER_LIMIT, "The id of a migration has 1 to " + most + " characters");
        } else {
            return true;
        }
        return false;
    }

    /** The row of the migration that the event is about; null when there is none: the event is then refused. */
    private static @Nullable MigrationRow known(DecisionContext d, Event e) {
        String aggregate = e.envelope().aggregate();
        MigrationRow row = row(d, aggregate);
        if (row == null) {
            d.refuse(d.envelope(aggregate, 0), e, RefusalReason.MIGRATION_UNKNOWN, "This migration is not known, or it ended long ago");
        }
        return row;
    }

    private static @Nullable MigrationRow row(DecisionContext d, String aggregate) {
        return d.tables().get(Rows.MIGRATIONS, new RowKey.Aggregate(aggregate));
    }

    private static @Nullable PartRow part(MigrationRow row, String node) {
        for (PartRow part : row.parts()) {
            if (part.node().equals(node)) {
                return part;
            }
        }
        return null;
    }
}
