/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.events.Causes;
import io.tierlog.ops.bench.BenchCommand;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.cli.audit.AuditCommand;
import io.tierlog.ops.cli.audit.LogCommand;
import io.tierlog.ops.cli.audit.SnapshotCommand;
import io.tierlog.ops.cli.audit.StoreCommand;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.demo.DemoCommand;
import io.tierlog.ops.cli.demo.EngineCommand;
import io.tierlog.ops.cli.operate.DrainCommand;
import io.tierlog.ops.cli.operate.ExistCommand;
import io.tierlog.ops.cli.operate.GroupsCommand;
import io.tierlog.ops.cli.operate.LookupCommand;
import io.tierlog.ops.cli.operate.MarksCommand;
import io.tierlog.ops.cli.operate.MigrateCommand;
import io.tierlog.ops.cli.operate.NodesCommand;
import io.tierlog.ops.cli.operate.WhereCommand;
import io.tierlog.ops.cli.whatif.WhatIfCommand;
import io.tierlog.ops.simulation.ScenarioCommand;
import io.tierlog.ops.simulation.swarm.SimulateCommand;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IExecutionStrategy;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** {@code tierlog} with all its commands. */
@Command(
        // In alphabetical order, as the help shows them.
        subcommands = {
            AclsCommand.class,
            AgentCommand.class,
            AuditCommand.class,
            BenchCommand.class,
            BridgeCommand.class,
            BrokerCommand.class,
            ControllerCommand.class,
            DashboardCommand.class,
            DemoCommand.class,
            DirectoryCommand.class,
            DrainCommand.class,
            EngineCommand.class,
            ExistCommand.class,
            GroupsCommand.class,
            KeysCommand.class,
            LogCommand.class,
            LookupCommand.class,
            MarksCommand.class,
            MigrateCommand.class,
            NodesCommand.class,
            PolicyCommand.class,
            ScenarioCommand.class,
            SimulateCommand.class,
            SnapshotCommand.class,
            StoreCommand.class,
            TopicsCommand.class,
            TrainingCommand.class,
            WhatIfCommand.class,
            WhereCommand.class
        },
        footer = {
            "",
            "The value of a flag that is not given comes from the environment",
            "(TIERLOG_BROKER_PORT, or TIERLOG_PORT for all commands), then from the",
            "settings file (broker.port=9092, or port=9092), then from its default.",
            "Exit codes: 0 done, 1 failed, 2 wrong usage or input."
        })
public final class Main extends Root {
    /** Runs one command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        List<String> list = List.of(arguments);
        Map<String, String> environment = System.getenv();
        if (list.contains(Root.VERBOSE_FLAG) || Boolean.parseBoolean(environment.get("TIERLOG_VERBOSE"))) {
            // Before the first logger exists.
            System.setProperty("tierlog.log.level", "INFO");
        }
        Preload.begin(list);
        CommandLine line = commandLine(list);
        IExecutionStrategy execution = line.getExecutionStrategy();
        line.setExecutionStrategy(parsed -> {
            LibraryWarnings.install();
            RepeatedWarnings.install();
            return execution.execute(parsed);
        });
        System.exit(run(line, list, environment, Path.of(System.getProperty("user.home"))));
    }

    /** With the command that comes first among the arguments, else with all: to read the options of all takes longer than most commands do. */
    static CommandLine commandLine(List<String> arguments) {
        String first = arguments.isEmpty() ? "" : arguments.getFirst();
        return Stream.of(Main.class.getAnnotation(Command.class).subcommands())
                .filter(command -> command.getAnnotation(Command.class).name().equals(first))
                .findFirst()
                .map(command -> new CommandLine(new Root()).addSubcommand(new CommandLine(command)))
                .orElseGet(() -> new CommandLine(new Main()));
    }

    /** Runs a command with the given environment and home directory, and returns its exit code. */
    public static int run(CommandLine line, List<String> arguments, Map<String, String> environment, Path home) {
        IExecutionStrategy execution = line.getExecutionStrategy();
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setUsageHelpAutoWidth(true);
        line.setExecutionExceptionHandler(Main::failed);
        line.setParameterExceptionHandler(Main::misused);
        line.setExecutionStrategy(parsed -> {
            // Before the log is set up and arguments are checked: help comes at once.
            Integer helped = CommandLine.executeHelpRequest(parsed);
            if (helped != null) {
                return helped;
            }
            ArgumentRules.check(parsed);
            return execution.execute(parsed);
        });
        try {
            Settings settings = Settings.load(arguments, environment, home);
            settings.check(line);
            line.setDefaultValueProvider(settings);
        } catch (CliError error) {
            return report(line.getErr(), error, arguments.contains(Root.VERBOSE_FLAG));
        }
        return line.execute(arguments.toArray(String[]::new));
    }

    private static int failed(Exception failure, CommandLine line, ParseResult parsed) {
        boolean verbose = line.getCommandSpec().root().userObject() instanceof Root root && root.verbose;
        if (failure instanceof CliError error) {
            return report(line.getErr(), error, verbose);
        }
        if (failure instanceof BenchException error) {
            int exitCode = error.isBadInput() ? CliError.BAD_INPUT : CliError.FAILURE;
            return report(line.getErr(), new CliError(error.getMessage(), error.hint(), exitCode, error), verbose);
        }
        String what = Causes.of(failure);
        String hint = verbose ? "please report this" : "run again with " + Root.VERBOSE_FLAG + " for the stack trace";
        return report(line.getErr(), new CliError(what, hint, CliError.FAILURE, failure), verbose);
    }

    private static int misused(ParameterException misuse, String[] arguments) {
        CommandLine line = misuse.getCommandLine();
        PrintWriter err = line.getErr();
        ArgSpec argument = misuse.getArgSpec();
        String value = misuse.getValue();
        Optional<String> allowed = argument == null || value == null ? Optional.empty() : ArgumentRules.allowed(argument);
        err.println("error: " + allowed.map(text -> ArgumentRules.name(argument) + ": '" + value + "' is not " + text).orElse(misuse.getMessage()));
        UnmatchedArgumentException.printSuggestions(misuse, err);
        err.println("hint: " + line.getCommandSpec().qualifiedName() + " --help");
        return CliError.BAD_INPUT;
    }

    private static int report(PrintWriter err, CliError error, boolean verbose) {
        err.println("error: " + error.getMessage());
        err.println("hint: " + error.hint());
        if (verbose) {
            error.printStackTrace(err);
        }
        err.flush();
        return error.exitCode();
    }
}
