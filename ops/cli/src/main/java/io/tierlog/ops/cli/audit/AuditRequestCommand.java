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

/** {@code tierlog audit request}: what the log says about one request. */
@Command(
        name = "request",
        description = "Show every record of the log about one request.",
        footer = {"", "It shows all attempts, and the operations that served them.", HistoryOutput.EXIT_CODES})
final class AuditRequestCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Mixin
    AuditOptions audit;

    @Parameters(paramLabel = "ID", description = "Id of the request, as the engine gave it.")
    String id;

    @Override
    public Integer call() throws Exception {
        return new HistoryOutput(spec, cluster, audit).print(new Subject.Request(id), "request " + id, false);
    }
}
