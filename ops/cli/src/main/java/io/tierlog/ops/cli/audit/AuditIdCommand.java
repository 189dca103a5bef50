/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.audit.history.Subject;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What the commands about one id share. */
abstract class AuditIdCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Mixin
    AuditOptions audit;

    @Mixin
    StretchOptions stretch;

    @Parameters(paramLabel = "ID", description = "Its id; that of an operation is AGGREGATE@OFFSET.ORDINAL.")
    String id;

    /** What the id names. */
    abstract Subject subject(String name);

    @Override
    public Integer call() throws Exception {
        if (id.isBlank()) {
            throw new CliError("ID is empty", "write the id of a " + spec.name(), CliError.BAD_INPUT);
        }
        return new HistoryOutput(spec, cluster, audit).print(subject(id), stretch, spec.name() + " " + id, HistoryOutput.Part.ALL);
    }
}
