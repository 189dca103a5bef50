/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.OutputFormat;
import io.tierlog.ops.engine.EngineNode;
import io.tierlog.ops.engine.ProgressListener;
import io.tierlog.ops.engine.ReplayConfig;
import io.tierlog.ops.engine.api.AgentAddress;
import io.tierlog.ops.engine.api.Timeouts;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.ops.engine.workload.WorkloadProfile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog engine}: the engine model alone, against agents that run elsewhere on this machine. */
@Command(
        name = "engine",
        description = "Replay a workload as inference engines would, against running agents.",
        footer = {
            "",
            "Example: tierlog engine --agents a=127.0.0.1:7070 --trace trace.jsonl --watch-log --bootstrap-servers 127.0.0.1:9092",
            "Exit code 1 when a block had wrong content, the numbers do not add up, or operations did not end."
        })
public final class EngineCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    DemoOptions options;

    @Mixin
    ClusterOptions cluster;

    @Option(
            names = "--agents",
            required = true,
            paramLabel = "NODE=ADDRESS",
            split = ",",
            description = "The agents, by the name of their node: HOST:PORT or unix:PATH.")
    Map<String, String> agents = new TreeMap<>();

    @Option(names = "--watch-log", description = "Also take statistics from the log of --bootstrap-servers.")
    boolean watchLog;

    @Option(
            names = "--prefetch-wait-ms",
            paramLabel = "MS",
            description = "The agents' --prefetch-wait-ms (default: ${DEFAULT-VALUE}).")
    int prefetchWaitMs = 200;

    @Option(
            names = "--registration-wait-ms",
            paramLabel = "MS",
            description = "Longest wait at the start until the agents are registered; then the run begins without them (default: ${DEFAULT-VALUE}).")
    long registrationWaitMs = Timeouts.defaults().onTheLogMs();

    @Option(names = "--run", paramLabel = "NAME", description = "Name of the run, unique on its log (default: run-PID).")
    String run = "run-" + ProcessHandle.current().pid();

    @Option(names = "--compare", negatable = true, description = "Replay again without the tiers (default: no).")
    boolean compare;

    @Option(
            names = "--report-progress",
            description = "Print a line of JSON on standard output a few times a second, for a program that runs this one:"
                    + " {\"event\":\"progress\",\"requests_done\":3,\"requests_total\":9}.")
    boolean reportProgress;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    @Override
    public Integer call() throws Exception {
        Workload workload = options.workload();
        WorkloadProfile profile = WorkloadProfile.of(workload);
        List<EngineNode> nodes = new ArrayList<>();
        agents.forEach((node, address) -> nodes.add(new EngineNode(node, agentAddress(node, address))));
        try (Closing closing = new Closing()) {
            Path memory = SharedMemory.directory();
            closing.atEnd(() -> SharedMemory.delete(memory));
            ReplayConfig plan = ReplayPlan.of(run, options, workload, profile, nodes, memory);
            ReplayConfig config = plan.withTimeouts(ReplayPlan.patience(plan, prefetchWaitMs).withOnTheLogMs(registrationWaitMs));
            Optional<LogWatch> watch = Optional.empty();
            if (watchLog) {
                LogWatch started = ClusterOptions.checked(() -> LogWatch.start(cluster.kafka(), cluster.codec(), cluster.topics()));
                watch = Optional.of(closing.own(started));
            }
            ReplayRun replay = ReplayRun.onStandardError();
            return print(replay.run(config, new ReplayRun.Watch(watch, Optional.empty(), listener()), compare), format, spec.commandLine().getOut());
        }
    }

    private ProgressListener listener() {
        if (!reportProgress) {
            return ProgressListener.none();
        }
        PrintWriter out = spec.commandLine().getOut();
        return now -> {
            out.println(EngineProgress.line(now));
            out.flush();
        };
    }

    /** Prints the report and returns the exit code. */
    static int print(DemoReport report, OutputFormat format, PrintWriter out) throws Exception {
        switch (format) {
            case text -> DemoTable.of(report).forEach(out::println);
            case json -> out.println(new ObjectMapper().writeValueAsString(report.toJson()));
        }
        out.flush();
        return report.sound() ? 0 : CliError.FAILURE;
    }

    private static AgentAddress agentAddress(String node, String address) {
        try {
            return AgentAddress.parse(address);
        } catch (IllegalArgumentException e) {
            throw new CliError(
                    "--agents " + node + "=" + address + ": " + e.getMessage(),
                    "for example: --agents a=127.0.0.1:7070",
                    CliError.BAD_INPUT,
                    e);
        }
    }
}
