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

/** {@code tierlog audit operation}: what the log says about one operation. */
@Command(
        name = "operation",
        description = "Show every record of the log about one operation.",
        footer = {"", "A decision names the input that led to it.", HistoryOutput.EXIT_CODES})
final class AuditOperationCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Mixin
    AuditOptions audit;

    @Parameters(paramLabel = "ID", description = "Id of the operation, AGGREGATE@OFFSET.ORDINAL.")
    String id;

    @Override
    public Integer call() throws Exception {
        return new HistoryOutput(spec, cluster, audit).print(new Subject.Operation(id), "operation " + id, false);
    }
}
