/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.cli.CliError;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code tierlog audit}: commands that read a log. */
@Command(
        name = "audit",
        description = "Ask a log: verify it, decide it again, show its statistics, its tables at a moment, or what it says about a block or request.",
        subcommands = {
            AuditBlockCommand.class,
            AuditExportCommand.class,
            AuditMigrationCommand.class,
            AuditNodeCommand.class,
            AuditOperationCommand.class,
            AuditRequestCommand.class,
            AuditRerunCommand.class,
            AuditStateCommand.class,
            AuditStatsCommand.class,
            AuditTenantCommand.class,
            AuditVerifyCommand.class
        })
public final class AuditCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    /** Prints the help: a subcommand is needed. */
    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getErr());
        return CliError.BAD_INPUT;
    }
}
