/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.StoredRows;
import io.tierlog.controller.streams.StateEnd;
import io.tierlog.controller.streams.StateRestore;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.Finding;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.PartitionStart;
import io.tierlog.ops.audit.snapshot.Snapshot;
import io.tierlog.ops.audit.snapshot.SnapshotDirectory;
import io.tierlog.ops.audit.snapshot.Snapshotter;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.bench.report.Report;
import io.tierlog.ops.bench.report.Row;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;

/**
 * Measures how soon a controller decides again, by what it has lost. The state comes from agents that report what their hosts still hold; then each
 * round starts the controller without its state, with it, and after its changelog was deleted too and written again from a snapshot. A start lasts
 * until everything that was on the log then is decided and committed. One thread; it removes what it made at its end.
 */
public final class RestoreBench {
    private static final int PROMPT_BLOCKS = 30;
    private static final byte OF_THE_SHELL = (byte) 0xff;
    private static final int EVENT_BLOCKS = 33 * PROMPT_BLOCKS;

    private final RestoreBenchConfig config;
    private final Consumer<String> progress;
    private final Environment environment;
    private final Controller controller;
    private final Backlog backlog;
    private final SnapshotDirectory snapshots;

    private RestoreBench(RestoreBenchConfig config, Consumer<String> progress, Environment environment) {
        this.config = config;
        this.progress = progress;
        this.environment = environment;
        this.controller = new Controller(environment, environment.config().commands().getFirst());
        this.backlog = new Backlog(environment, controller.group(), controller.topics().events());
        this.snapshots = new SnapshotDirectory(environment.directory("snapshots"));
    }

    /**
     * Runs it.
     *
     * @param progress receives a few words on each step
     * @throws BenchException when it cannot be run
     */
    public static Report run(RestoreBenchConfig config, Consumer<String> progress) throws InterruptedException {
        ControlBenchConfig base = ControlBenchConfig.DEFAULTS;
        ControlBenchConfig shaped = new ControlBenchConfig(
                Optional.empty(),
                base.load(),
                new ControlBenchConfig.Shape(PROMPT_BLOCKS, config.nodes(), config.partitions(), base.shape().hostBlocks()),
                base.tuning(),
                List.of(base.commands().getFirst()),
                base.recorded());
        try (Environment environment = Environment.open(shaped)) {
            return new RestoreBench(config, progress, environment).measured();
        }
    }

    private Report measured() throws InterruptedException {
        Row report = new Row().with("placements", config.placements()).with("nodes", config.nodes()).with("partitions", config.partitions())
                .with("state", filled());
        List<Row> rounds = new ArrayList<>();
        try (LogSource log = new ClusterLog(environment.access())) {
            Row snapshot = snapshot(log);
            report.with("snapshot", snapshot);
            for (int round = 1; round <= config.rounds(); round++) {
                progress.accept("round " + round + " of " + config.rounds());
                String directory = "state-" + round;
                rounds.add(new Row()
                        .rounded("without_state_s", start(directory))
                        .rounded("with_state_s", start(directory))
                        .with("lost", restored(log, round)));
            }
            report.with("rounds", rounds);
            boolean whole = snapshot.value("verified").equals(true)
                    && rounds.stream().allMatch(round -> round.row("lost").number("placements") == config.placements());
            return new Report(report, text(report), whole);
        }
    }

    /** The controller decides what all nodes report. */
    private Row filled() throws InterruptedException {
        progress.accept(String.format(Locale.ROOT, "filling hosts with %,d blocks", config.placements()));
        try (Application started = controller.startWithAgents()) {
            long begin = System.nanoTime();
            int events = report(controller.agents().all());
            environment.outbox().flush();
            Progress reported = backlog.present();
            while (reported.done() < reported.end()) {
                started.check();
                controller.agents().idle(); // a node whose agent is silent is lost, with its blocks
                TimeUnit.MILLISECONDS.sleep(20);
            }
            double seconds = since(begin);
            return new Row().with("events", events).rounded("seconds", seconds).rounded("placements_per_s", config.placements() / seconds)
                    .rounded("changelog_bytes_per_placement", bytes(changelog()) / (double) config.placements())
                    .rounded("log_bytes_per_placement",
                            (bytes(controller.topics().events()) + bytes(controller.topics().decisions())) / (double) config.placements());
        }
    }

    /** Sends events of whole prompts, from one node after the other; returns how many. */
    private int report(List<Agent> agents) {
        int events = 0;
        for (int block = 0; block < config.placements(); block += EVENT_BLOCKS) {
            int end = Math.min(config.placements(), block + EVENT_BLOCKS);
            agents.get(events % agents.size()).recover(IntStream.range(block, end).mapToObj(RestoreBench::block).toList());
            events++;
        }
        return events;
    }

    private static Block block(int number) {
        long prompt = number / PROMPT_BLOCKS;
        int index = number % PROMPT_BLOCKS;
        return new Block(index, Workload.key(prompt, index), index == 0 ? Bytes.EMPTY : Workload.key(prompt, index - 1));
    }

    private long bytes(String topic) throws InterruptedException {
        return TopicSizes.of(environment.admin(), topic).total().bytes();
    }

    private Row snapshot(LogSource log) throws InterruptedException {
        progress.accept("making and verifying a snapshot");
        long begin = System.nanoTime();
        Snapshot made = made(log);
        double seconds = since(begin);
        long verified = System.nanoTime();
        boolean same = snapshotter(log).verify(made).isEmpty();
        return new Row().rounded("create_s", seconds).rounded("verify_s", since(verified)).with("bytes", made.bytes()).with("verified", same);
    }

    private Snapshotter snapshotter(LogSource log) {
        return new Snapshotter(snapshots, log, controller.topics(), environment.codec(), 1);
    }

    private Snapshot made(LogSource log) throws InterruptedException {
        Snapshotter.Made made = snapshotter(log).create(System.currentTimeMillis());
        return made.snapshot().orElseThrow(() -> BenchException.failed(
                "the log breaks a check: " + made.finding().map(Finding::toString).orElse(""), "please report this"));
    }

    /** Seconds from the start of a controller with this directory until it has decided what was on the log. */
    private double start(String directory) throws InterruptedException {
        controller.agents().heartbeat();
        environment.outbox().flush();
        long begin = System.nanoTime();
        try (Application started = controller.start(directory)) {
            started.awaitRunning(Application.START);
            backlog.awaitNone(started);
            return since(begin);
        }
    }

    /** Everything is lost but the log and the snapshot: as {@code snapshot restore} does it, and then the start. */
    private Row restored(LogSource log, int round) throws InterruptedException {
        loseChangelog();
        StateRestore restore = new StateRestore(environment.access(), controller.group(), config.partitions());
        long begin = System.nanoTime();
        restore.prepare();
        Snapshot present = made(log);
        double folded = since(begin);
        long rows = restore.write(partition -> {
            PartitionStart start = present.of(partition).orElseThrow();
            return new StateRestore.State(
                    start.tables(), start.stamps(), StateEnd.ofSnapshot(start.at().nextEvent(), start.at().nextDecision()));
        });
        double written = since(begin) - folded;
        long placements = placements(log, changelog());
        double started = start("restored-" + round);
        return new Row().rounded("fold_s", folded).rounded("write_s", written).rounded("start_s", started)
                .rounded("all_s", folded + written + started).with("rows", rows).with("placements", placements);
    }

    /** Blocks that the rows of a changelog name which was just written: each row is there once. */
    private static long placements(LogSource log, String changelog) {
        long blocks = 0;
        try (LogSource.Stream all = log.openAll(changelog)) {
            for (List<LogEntry> some = all.next(); !some.isEmpty(); some = all.next()) {
                for (LogEntry entry : some) {
                    if (entry instanceof LogEntry.Data row && row.key() != null && row.value() != null && row.key()[0] != OF_THE_SHELL
                            && StoredRows.tableOf(row.key()) == Rows.PLACEMENTS) {
                        blocks += StoredRows.placements(row.key(), row.value()).size();
                    }
                }
            }
        }
        return blocks;
    }

    private String changelog() throws InterruptedException {
        return topics().stream().filter(topic -> topic.startsWith(controller.group() + "-") && topic.endsWith("-changelog")).findFirst()
                .orElseThrow(() -> BenchException.failed("the controller has no changelog", "please report this"));
    }

    private Set<String> topics() throws InterruptedException {
        try {
            return environment.admin().listTopics().names().get();
        } catch (ExecutionException failure) {
            throw unanswered(failure);
        }
    }

    private void loseChangelog() throws InterruptedException {
        String changelog = changelog();
        try {
            environment.admin().removeMembersFromConsumerGroup(controller.group(), new RemoveMembersFromConsumerGroupOptions()).all().get();
            environment.admin().deleteTopics(List.of(changelog)).all().get();
        } catch (ExecutionException failure) {
            throw unanswered(failure);
        }
        while (topics().contains(changelog)) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }

    private static BenchException unanswered(ExecutionException failure) {
        return BenchException.failed("the broker did not answer: " + failure.getCause(), "look at the broker").causedBy(failure);
    }

    private static double since(long beginNanos) {
        return (System.nanoTime() - beginNanos) / 1e9;
    }

    private static String text(Row report) {
        Row state = report.row("state");
        Row snapshot = report.row("snapshot");
        List<Row> rounds = report.rows("rounds");
        List<Row> lost = rounds.stream().map(round -> round.row("lost")).toList();
        Report.Text text = new Report.Text()
                .line("%,d blocks on the hosts of %d nodes, %d partitions; %,.0f placed a second; bytes each: changelog %.0f, log %.0f",
                        report.value("placements"), report.value("nodes"), report.value("partitions"), state.number("placements_per_s"),
                        state.number("changelog_bytes_per_placement"), state.number("log_bytes_per_placement"))
                .line("snapshot of %.1f MB: made in %.2f s, verified in %.2f s%s", snapshot.number("bytes") / 1e6, snapshot.number("create_s"),
                        snapshot.number("verify_s"), snapshot.value("verified").equals(true) ? "" : ", DIFFERS FROM THE LOG")
                .line("%n%-58s %8s %8s %8s", "seconds until all on the log is decided", "median", "min", "max");
        line(text, "started with its state", rounds, "with_state_s");
        line(text, "without its state, from the changelog", rounds, "without_state_s");
        line(text, "without its changelog, from a snapshot", lost, "all_s");
        line(text, "  of it: the log since the snapshot folded", lost, "fold_s");
        line(text, "  the changelog written", lost, "write_s");
        line(text, "  the start", lost, "start_s");
        lost.stream().filter(row -> row.number("placements") != ((Number) report.value("placements")).doubleValue())
                .forEach(row -> text.line("WRONG: a restored changelog has %,d blocks", row.value("placements")));
        return text.toString();
    }

    private static void line(Report.Text text, String what, List<Row> rows, String value) {
        List<Double> sorted = rows.stream().map(row -> row.number(value)).sorted(Comparator.naturalOrder()).toList();
        text.line("%-58s %8.2f %8.2f %8.2f", what, sorted.get(sorted.size() / 2), sorted.getFirst(), sorted.getLast());
    }
}
