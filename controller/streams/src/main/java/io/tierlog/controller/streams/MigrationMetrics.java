/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.schemas.ConfigWarningKind;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.MigrationRefused;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.decision.ConfigWarning;
import io.tierlog.schemas.decision.MigrationCompleted;
import io.tierlog.schemas.decision.MigrationRejected;
import io.tierlog.schemas.decision.MigrationSubmitted;
import io.tierlog.schemas.decision.QuotaExceeded;

/** Counts what becomes of migrations, marks and quotas. Safe for use by several threads. */
final class MigrationMetrics {
    private final Counter submitted;
    private final Counter refused;
    private final Counter completed;
    private final Counter marks;
    private final Counter quotas;
    private final Counter warnings;

    MigrationMetrics(PrometheusRegistry registry) {
        submitted = counter(registry, "tierlog_migration_blocks_submitted_total", "Blocks that began to migrate, by method and trigger", "method",
                "trigger");
        refused = counter(registry, "tierlog_migration_blocks_refused_total", "Blocks that were not migrated, by reason", "reason");
        completed = counter(registry, "tierlog_migrations_completed_total", "Migrations that ended, by method and state", "method", "state");
        marks = counter(registry, "tierlog_marks_total", "Marks on blocks, by what became of them", "what");
        quotas = counter(registry, "tierlog_quota_exceeded_total", "Moves that a quota has kept from beginning, by kind", "kind");
        warnings = counter(registry, "tierlog_config_warnings_total", "Warnings about policies that were adopted, by kind", "kind");
        for (MigrationRefusal reason : MigrationRefusal.values()) {
            refused.initLabelValues(reason.name());
        }
        for (OperationKind kind : OperationKind.values()) {
            quotas.initLabelValues(kind.name());
        }
        for (ConfigWarningKind kind : ConfigWarningKind.values()) {
            warnings.initLabelValues(kind.name());
        }
    }

    void submitted(MigrationSubmitted fact) {
        submitted.labelValues(fact.method().name(), fact.move().trigger().name()).inc(fact.keys().size());
    }

    void rejected(MigrationRejected fact) {
        for (MigrationRefused one : fact.refused()) {
            refused.labelValues(one.reason().name()).inc(one.keys().size());
        }
    }

    void completed(MigrationCompleted fact) {
        completed.labelValues(fact.method().name(), fact.state().name()).inc();
    }

    void marks(String what, int blocks) {
        marks.labelValues(what).inc(blocks);
    }

    void quotaExceeded(QuotaExceeded fact) {
        quotas.labelValues(fact.kind().name()).inc();
    }

    void warned(ConfigWarning fact) {
        warnings.labelValues(fact.kind().name()).inc();
    }

    private static Counter counter(PrometheusRegistry registry, String name, String help, String... labels) {
        return Counter.builder().name(name).help(help).labelNames(labels).register(registry);
    }
}
