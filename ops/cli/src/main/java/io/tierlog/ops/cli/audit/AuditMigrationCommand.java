/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.audit.history.Subject;
import io.tierlog.ops.cli.ClusterOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tierlog audit migration}: what the log says about one migration. */
@Command(
        name = "migration",
        description = "Show every record of the log about one migration.",
        footer = {"", "It shows the order, the answers of the nodes, and the operations that it began.", HistoryOutput.EXIT_CODES})
final class AuditMigrationCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Mixin
    AuditOptions audit;

    @Parameters(paramLabel = "ID", description = "Id of the migration, as its operator gave it.")
    String id;

    @Override
    public Integer call() throws Exception {
        return new HistoryOutput(spec, cluster, audit).print(new Subject.Migration(id), "migration " + id, false);
    }
}
