/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.agent.app.store.StoreLocation;
import io.tierlog.controller.streams.CommandDelivery;
import io.tierlog.controller.streams.StreamsTuning;
import io.tierlog.events.config.Size;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.OutputFormat;
import io.tierlog.ops.cli.command.TimeText;
import io.tierlog.ops.cli.policy.PolicyFile;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.ops.engine.workload.WorkloadProfile;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.WritePolicy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog demo}: all parts in one run. */
@Command(
        name = "demo",
        description = "Run a broker, a controller, agents and model engines together, replay a workload, and report what the tiers gained.",
        footer = {
            "",
            "Operations and records are counted from the log. Every byte of every loaded block is compared with what was computed.",
            "Exit code 1 when a block had wrong content, the numbers do not add up, or operations did not end."
        })
public final class DemoCommand implements Callable<Integer> {
    /** A restart takes seconds of real time; at a pace of 12 each would be half a minute of the trace. */
    private static final double KILLS_PACE = 4;

    /** Requests that are replayed before a comparison, so that its first run is not the one that loads classes and compiles. */
    private static final int WARM_UP = 400;

    @Spec
    CommandSpec spec;

    @Mixin
    DemoOptions options;

    @Option(names = "--nodes", paramLabel = "N", description = "Nodes, each with an agent and an engine (default: ${DEFAULT-VALUE}).")
    int nodes = 2;

    @Option(
            names = "--host",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Host memory of each node: " + Size.HELP + " (default: 5%%).")
    Size host = new Size.OfShare(5);

    @Option(
            names = "--disk",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            description = "Disk tier of each node: " + Size.HELP + " (default: none).")
    @Nullable Size disk;

    @Option(
            names = "--store",
            paramLabel = "STORE",
            description = "Shared store of the nodes, as agents take it: " + StoreLocation.FORMS + " (default: a directory in --data).")
    @Nullable String store;

    @Option(names = "--partitions", paramLabel = "N", description = "Partitions of the log (default: ${DEFAULT-VALUE}).")
    int partitions = 4;

    @Option(
            names = "--prefetch-threshold",
            paramLabel = "N",
            description = "Fetch only when more than N blocks would be fetched (default: ${DEFAULT-VALUE}).")
    int prefetchThreshold = 1;

    @Option(names = "--prefetch-wait-ms", paramLabel = "MS", description = "Longest time a request waits for a fetch (default: ${DEFAULT-VALUE}).")
    int prefetchWaitMs = 200;

    @Option(
            names = "--write-policy",
            paramLabel = "POLICY",
            description = "WRITE_BACK (at the end of a request), WRITE_THROUGH or WRITE_THROUGH_SELECTIVE (default: ${DEFAULT-VALUE}).")
    WritePolicy writePolicy = WritePolicy.WRITE_BACK;

    @Option(
            names = "--policy",
            paramLabel = "FILE",
            description = "Policy document (YAML), instead of the flags for single fields: with groups, quotas and routes.")
    @Nullable Path policy;

    @Option(
            names = "--series",
            paramLabel = "FILE",
            description = "Write how full each tier was over time, by the agents' reports, as CSV: ms, node, tier, used, pins, capacity (blocks).")
    @Nullable Path series;

    @Option(names = "--host-high", paramLabel = "SHARE", description = "Host watermark at which eviction starts (default: ${DEFAULT-VALUE}).")
    double hostHigh = 0.90;

    @Option(names = "--host-low", paramLabel = "SHARE", description = "Host watermark below which eviction stops (default: ${DEFAULT-VALUE}).")
    double hostLow = 0.85;

    @Option(
            names = "--commands",
            paramLabel = "HOW",
            description = "How commands leave the controller: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    CommandDelivery commands = CommandDelivery.DIRECT;

    @Option(
            names = "--commit-interval-ms",
            paramLabel = "MS",
            description = "Time between two transactions of the controller (default: ${DEFAULT-VALUE}).")
    int commitIntervalMs = StreamsTuning.DEFAULTS.commitIntervalMs();

    @Option(names = "--no-tiers", description = "Device caches alone: no broker, no controller, no agents.")
    boolean noTiers;

    @Option(
            names = "--no-controller",
            description = "Run without a controller: no agent can register, and requests use the device alone.")
    boolean noController;

    @Option(
            names = "--controller-away",
            paramLabel = "FROM-TO",
            description = "Stop the controller once FROM requests have ended and start it again once TO have: nothing is fetched meanwhile,"
                    + " and requests go on after the prefetch wait.")
    @Nullable String controllerAway;

    @Option(
            names = "--probe-ahead",
            paramLabel = "TIME",
            description = "Probe a directory for the blocks of each prompt this long before its request, for example 2s, with prefetch_to_memory:"
                    + " blocks that only a disk has are promoted. Needs a workload with a pace (a trace, or --speed). The same workload also"
                    + " runs without promotion (see --warm-up, --rounds and --promotion-first), and both are one table; not with --no-compare.")
    @Nullable String probeAhead;

    @Option(
            names = "--promotion-first",
            description = "With --probe-ahead: run with promotion first, to see the effect of the order on the table.")
    boolean promotionFirst;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description = "With --probe-ahead: run both N times, in alternating order; each row is of all requests of its runs"
                    + " (default: ${DEFAULT-VALUE}).")
    int rounds = 1;

    @Option(
            names = "--warm-up",
            paramLabel = "N",
            description = "With --probe-ahead: replay the first N requests before counting, since the first requests of a process are slower"
                    + " than later ones (default: 400, or all where there are fewer; 0 for nothing).")
    @Nullable Integer warmUp;

    @Option(
            names = "--peers",
            description = "Agents read from each other: a directory beside the controller locates blocks. With the default policy another node's host"
                    + " is cheaper than the store, which all nodes of the demo share.")
    boolean peers;

    @Option(
            names = "--engines",
            paramLabel = "KIND",
            description = "${COMPLETION-CANDIDATES}: with events, three more engines only publish events, each in its own dialect. A bridge listens"
                    + " to them, and a router asks one directory about all five (default: ${DEFAULT-VALUE}).")
    EngineKind engines = EngineKind.served;

    /** Engines of a run, as a user types them. */
    enum EngineKind {
        /** Those that Tierlog serves. */
        served,
        /** And those that it listens to. */
        events
    }

    @Option(names = "--no-compare", description = "Do not replay again without the tiers, or without promotion; a run with kills never does.")
    boolean noCompare;

    @Option(names = "--no-dashboard", description = "Do not serve the live page of the run; with --processes there is none.")
    boolean noDashboard;

    @Option(names = "--processes", description = "Run every part in its own process and print the process ids.")
    boolean processes;

    @Option(
            names = "--controller-kills",
            paramLabel = "N",
            description = "With --processes: kill -9 the controller N times, at random from 20 %% to 80 %% of the requests, and start it again"
                    + " (default: ${DEFAULT-VALUE}). A trace is then replayed at 4 times its pace, unless --speed says otherwise.")
    int controllerKills;

    @Option(
            names = "--agent-kills",
            paramLabel = "N",
            description = "With --processes: kill -9 agents N times, at random from 20 %% to 80 %% of the requests, one node after the other,"
                    + " and start them again (default: ${DEFAULT-VALUE}).")
    int agentKills;

    @Option(names = "--keep", description = "Keep the log, the state and the store afterwards, and print where they are.")
    boolean keep;

    @Option(names = "--data", paramLabel = "DIR", description = "Directory of log, state and store (default: a fresh temporary directory).")
    @Nullable Path data;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    OutputFormat format = OutputFormat.text;

    @Override
    public Integer call() throws Exception {
        check();
        if (controllerKills + agentKills > 0 && options.trace != null && options.speed == null) {
            options.speed = KILLS_PACE;
        }
        Workload workload = options.workload();
        require(
                away().isEmpty() || away().get().from() < workload.size(),
                "--controller-away " + controllerAway + ": the run has " + workload.size() + " requests");
        WorkloadProfile profile = WorkloadProfile.of(workload);
        if (probeAheadMs() > 0 && !noCompare) {
            return comparison(workload, profile);
        }
        try (DemoRun run = new DemoRun(this, workload, profile, new DemoRun.Part("", true, !noCompare))) {
            if (processes) {
                return run.inProcesses(spec.commandLine().getOut(), spec.commandLine().getErr());
            }
            DemoReport report = run.here();
            writeSeries(report);
            return EngineCommand.print(report, format, spec.commandLine().getOut());
        }
    }

    /** The same requests, each time on a new log and new tiers: the directory is probed without promotion, or with it. */
    private int comparison(Workload workload, WorkloadProfile profile) throws Exception {
        int warmed = Math.min(warmUp == null ? WARM_UP : warmUp, workload.size());
        boolean warmedWell = true;
        if (warmed > 0) {
            DemoRun.Part warm = new DemoRun.Part("warm-up", true, false);
            warmedWell = part("Warm-up, " + warmed + " requests that are not counted", workload.first(warmed), profile, warm).sound();
        }
        List<PromotionComparison.Run> runs = new ArrayList<>();
        List<Boolean> order = PromotionComparison.order(rounds, promotionFirst);
        for (boolean promotes : order) {
            int i = runs.size() + 1;
            DemoRun.Part counted = new DemoRun.Part(i + (promotes ? "-promotion-on" : "-promotion-off"), promotes, false);
            runs.add(new PromotionComparison.Run(promotes, part("Run " + i + " of " + order.size(), workload, profile, counted)));
        }
        PromotionComparison comparison = new PromotionComparison(warmed, runs);
        writeSeries(comparison.last(true));
        int code = comparison.print(format, spec.commandLine().getOut());
        if (!warmedWell) {
            spec.commandLine().getErr().println("The warm-up had wrong content, or its numbers do not add up; see the run with --warm-up 0.");
        }
        return warmedWell ? code : CliError.FAILURE;
    }

    private DemoReport part(String title, Workload workload, WorkloadProfile profile, DemoRun.Part part) throws InterruptedException {
        spec.commandLine().getErr().println(title + ": "
                + (part.promotes() ? "with promotion of blocks that only a disk has." : "without promotion."));
        spec.commandLine().getErr().flush();
        try (DemoRun run = new DemoRun(this, workload, profile, part)) {
            return run.here();
        }
    }

    private void writeSeries(DemoReport report) {
        if (series != null && report.log().isPresent()) {
            SeriesFile.write(series, report.log().get().watermarks().samples());
        }
    }

    /** The policy of the run: the document's, or that of the flags. */
    Policy policy() {
        return policy != null
                ? PolicyFile.load(policy)
                : new Policy(prefetchThreshold, writePolicy, hostHigh, hostLow, 0.95, 0.90, true, 256, 10_000, 30_000, 10, true, null, null);
    }

    /** What agents get as --store. */
    String store(Path data) {
        return store != null ? store : data.resolve("store").toString();
    }

    private void check() {
        policy();
        try {
            StoreLocation.parse(store(Path.of(".")));
        } catch (IllegalArgumentException e) {
            throw new CliError("--store: " + e.getMessage(), "look at: tierlog demo --help", CliError.BAD_INPUT, e);
        }
        require(hostLow <= hostHigh, "--host-low must be at most --host-high, not " + hostLow);
        require(writePolicy != WritePolicy.UNKNOWN, "--write-policy UNKNOWN is not a policy");
        require(!processes || !noTiers, "--processes and --no-tiers do not go together");
        require(controllerAway == null || (!processes && !noTiers && !noController), "--controller-away needs a controller in this process");
        away();
        require(controllerKills == 0 || (processes && !noController), "--controller-kills needs --processes, and a controller");
        require(probeAhead == null || (!processes && !noTiers && !noController), "--probe-ahead needs a controller in this process");
        boolean compares = probeAhead != null && !noCompare;
        require(!promotionFirst || compares, "--promotion-first needs --probe-ahead, and not --no-compare");
        require(rounds == 1 || compares, "--rounds needs --probe-ahead, and not --no-compare");
        require(warmUp == null || compares, "--warm-up needs --probe-ahead, and not --no-compare");
        require(!peers || (!processes && !noTiers && !noController), "--peers needs a controller in this process");
        require(engines == EngineKind.served || (!processes && !noTiers && !noController), "--engines events needs a controller in this process");
        probeAheadMs();
        require(agentKills == 0 || (processes && !noController), "--agent-kills needs --processes, and a controller");
    }

    /** How long before a request the directory is probed, in milliseconds; 0 for never. */
    long probeAheadMs() {
        return probeAhead == null ? 0 : TimeText.parse("--probe-ahead", probeAhead);
    }

    /** The part of the run without a controller. */
    Optional<DemoController.Away> away() {
        try {
            return Optional.ofNullable(controllerAway).map(DemoController.Away::parse);
        } catch (IllegalArgumentException e) {
            throw new CliError("--controller-away: " + e.getMessage(), "look at: tierlog demo --help", CliError.BAD_INPUT, e);
        }
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw new CliError(message, "look at: tierlog demo --help", CliError.BAD_INPUT);
        }
    }
}
