/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that does nothing without one of its subcommands. */
public abstract class CommandGroup implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    /** Prints the help: a subcommand is needed. */
    @Override
    public final Integer call() {
        spec.commandLine().usage(spec.commandLine().getErr());
        return CliError.BAD_INPUT;
    }
}
