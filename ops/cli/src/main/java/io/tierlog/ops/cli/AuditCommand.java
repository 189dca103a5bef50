/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code tierlog audit}: the group of what reads a log back. */
@Command(name = "audit", description = "Read a log back.", subcommands = AuditVerifyCommand.class)
final class AuditCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    /** Without a subcommand there is nothing to do: show what there is. */
    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getErr());
        return CliError.BAD_INPUT;
    }
}
