/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.whatif;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.events.Causes;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.cli.audit.CsvText;
import io.tierlog.ops.cli.audit.RowTable;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.demo.DemoCommand;
import io.tierlog.ops.engine.workload.ConversationParameters;
import io.tierlog.ops.engine.workload.ConversationWorkload;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.ops.whatif.log.RecordedLog;
import io.tierlog.ops.whatif.world.HardwareModel;
import io.tierlog.ops.whatif.world.Routing;
import io.tierlog.ops.whatif.world.WhatIfPlan;
import io.tierlog.ops.whatif.world.WhatIfResult;
import io.tierlog.ops.whatif.world.WhatIfWorld;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/**
 * Runs the demo for real and in the model, with the same requests, and compares. The model is calibrated by the log of that run, unless one is given.
 * For one thread.
 */
final class CheckRun {
    /** The aim for the hit ratio of each tier. */
    static final double AIM = 0.01;

    private static final int GENERATED_REQUESTS = 2_500;
    private static final double TRACE_SPEED = 12;
    private static final int TRACE_CONCURRENCY = 96;
    private static final int GENERATED_CONCURRENCY = 32;
    private static final double DIGITS = 10_000;

    private final WhatIfCommand flags;
    private final CommandLine line;
    private final @Nullable Path trace;

    CheckRun(WhatIfCommand flags, CommandLine line) {
        this.flags = flags;
        this.line = line;
        this.trace = flags.trace;
    }

    /** Prints the comparison; the exit code says whether every tier is within the aim. */
    int run() {
        if (flags.log != null || flags.workload != null || !flags.cluster.sweeps.isEmpty() || !flags.cluster.settings.isEmpty()
                || flags.cluster.policies.size() > 1) {
            throw new CliError("--check takes a trace or the demo's own workload, and one policy", "leave out --log, --workload, --sweep and --set",
                    CliError.BAD_INPUT);
        }
        Path data = temporary();
        try {
            JsonNode demo = demo(data);
            RecordedLog.Recorded recorded = ClusterRun.recorded(data, Topics.DEFAULT, new Codec(Schemas.bundled()));
            WhatIfPlan plan = plan(recorded);
            return print(demo, WhatIfWorld.run(plan, workload()));
        } finally {
            delete(data);
        }
    }

    private Workload workload() {
        return trace != null
                ? flags.traceFile(trace)
                : ConversationWorkload.of(ConversationParameters.defaults().withSeed(flags.seed).withRequests(requests()));
    }

    private int requests() {
        Integer given = flags.requests;
        return given == null ? GENERATED_REQUESTS : given;
    }

    private boolean given(String flag) {
        return line.getParseResult().hasMatchedOption(flag);
    }

    private double speed() {
        return given("--speed") ? flags.cluster.speed : trace == null ? 0 : TRACE_SPEED;
    }

    private int concurrency() {
        return given("--concurrency") ? flags.cluster.concurrency : trace == null ? GENERATED_CONCURRENCY : TRACE_CONCURRENCY;
    }

    private JsonNode demo(Path data) {
        List<String> arguments = new ArrayList<>(List.of(
                "--format", "json", "--no-compare", "--no-dashboard", "--keep", "--data", data.toString(), "--speed", Double.toString(speed()),
                "--concurrency", Integer.toString(concurrency()), "--seed", Long.toString(flags.seed)));
        if (trace != null) {
            arguments.addAll(List.of("--trace", trace.toString()));
        }
        if (trace == null || flags.requests != null) {
            arguments.addAll(List.of("--requests", Integer.toString(requests())));
        }
        ClusterFlags cluster = flags.cluster;
        add(arguments, "--nodes", cluster.nodes);
        add(arguments, "--host", cluster.host == null ? null : cluster.host.text());
        add(arguments, "--disk", cluster.disk == null ? null : cluster.disk.text());
        add(arguments, "--device", cluster.device == null ? null : cluster.device.text());
        add(arguments, "--bytes-per-block", cluster.bytesPerBlock == null ? null : cluster.bytesPerBlock.text());
        add(arguments, "--prefetch-wait-ms", cluster.prefetchWaitMs);
        add(arguments, "--policy", cluster.policies.isEmpty() ? null : cluster.policies.getFirst());
        if (routing() == Routing.ROUND_ROBIN) {
            arguments.addAll(List.of("--route", "ROUND_ROBIN"));
        }
        StringWriter out = new StringWriter();
        CommandLine demo = new CommandLine(new DemoCommand()).setOut(new PrintWriter(out)).setErr(line.getErr())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    throw failure;
                });
        int code = demo.execute(arguments.toArray(String[]::new));
        if (code != 0) {
            throw new CliError(
                    "the demo ended with exit code " + code, "run it alone: tierlog demo " + String.join(" ", arguments), CliError.FAILURE);
        }
        try {
            return new ObjectMapper().readTree(out.toString());
        } catch (JsonProcessingException e) {
            throw new CliError("the demo printed no JSON", "run it alone: tierlog demo " + String.join(" ", arguments), CliError.FAILURE, e);
        }
    }

    private static void add(List<String> arguments, String flag, @Nullable Object value) {
        if (value != null) {
            arguments.addAll(List.of(flag, value.toString()));
        }
    }

    private Routing routing() {
        Routing routing = flags.cluster.route == null ? Routing.STICKY : Draft.routing("--route", flags.cluster.route);
        if (routing != Routing.STICKY && routing != Routing.ROUND_ROBIN) {
            throw new CliError("--check: the demo routes round-robin or sticky, not " + routing.text(), "leave out --route", CliError.BAD_INPUT);
        }
        return routing;
    }

    /** What the demo ran, by its log, over the calibrated model. */
    private WhatIfPlan plan(RecordedLog.Recorded recorded) {
        HardwareModel model = flags.cluster.model(recorded.model());
        return new WhatIfPlan(
                "check", recorded.policy(),
                new WhatIfPlan.Sizes(recorded.workload().nodes(), recorded.hostBlocks(), recorded.diskBlocks(), recorded.devicePages(),
                        recorded.retention(), recorded.blockBytes()),
                routing(), new WhatIfPlan.Pace(concurrency(), speed()), recorded.prefetchWaitMs(), model);
    }

    private int print(JsonNode demo, WhatIfResult model) {
        long accesses = Math.max(1, demo.path("block_accesses").asLong());
        ArrayNode rows = new ObjectMapper().createArrayNode();
        JsonNode hits = demo.path("hits");
        boolean within = true;
        for (String tier : List.of("device", "host", "disk", "store")) {
            long modelled = switch (tier) {
                case "device" -> model.hits().device();
                case "host" -> model.hits().host();
                case "disk" -> model.hits().disk();
                default -> model.hits().store();
            };
            within &= row(rows, "hit ratio, " + tier, hits.path(tier).asDouble() / accesses, model.ratio(modelled)) <= AIM;
        }
        row(rows, "hit ratio", demo.path("hit_ratio").asDouble(), model.hitRatio());
        JsonNode firstToken = demo.path("latency_ms").path("time_to_first_token");
        row(rows, "TTFT p50, ms", firstToken.path("p50").asDouble(), model.firstToken().p50());
        row(rows, "TTFT p90, ms", firstToken.path("p90").asDouble(), model.firstToken().p90());
        row(rows, "TTFT p99, ms", firstToken.path("p99").asDouble(), model.firstToken().p99());
        PrintWriter out = line.getOut();
        switch (flags.format) {
            case json -> {
                ObjectNode json = new ObjectMapper().createObjectNode();
                json.put("within", within).put("aim", AIM).set("rows", rows);
                out.println(json);
            }
            case csv -> CsvText.print(out, rows);
            default -> {
                RowTable.of("", rows).print(out, "nothing was compared");
                out.println(String.format(Locale.ROOT, "Every tier is %s %.2f of the demo's hit ratio.", within ? "within" : "not within", AIM));
            }
        }
        out.flush();
        return within ? 0 : CliError.FAILURE;
    }

    /** Adds a row; the absolute difference. */
    private static double row(ArrayNode rows, String what, double demo, double model) {
        rows.addObject().put("what", what).put("demo", round(demo)).put("model", round(model)).put("difference", round(model - demo));
        return Math.abs(model - demo);
    }

    private static double round(double value) {
        return Math.round(value * DIGITS) / DIGITS;
    }

    private static Path temporary() {
        try {
            return Files.createTempDirectory("tierlog-check-");
        } catch (IOException e) {
            throw new CliError("cannot make a temporary directory: " + Causes.of(e), "look at java.io.tmpdir", CliError.BAD_INPUT, e);
        }
    }

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new CliError("cannot delete " + directory + ": " + Causes.of(e), "delete it by hand", CliError.FAILURE, e);
        }
    }
}
