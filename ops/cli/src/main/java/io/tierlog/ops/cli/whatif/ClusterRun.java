/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.whatif;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.events.Codec;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.DirectoryLog;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.cli.audit.CsvText;
import io.tierlog.ops.cli.audit.LogChoice;
import io.tierlog.ops.cli.audit.RowTable;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.ops.engine.workload.WorkloadProfile;
import io.tierlog.ops.whatif.GeneratedWorkload;
import io.tierlog.ops.whatif.Prompts;
import io.tierlog.ops.whatif.log.RecordedLog;
import io.tierlog.ops.whatif.world.RoutedWorkload;
import io.tierlog.ops.whatif.world.Routing;
import io.tierlog.ops.whatif.world.WhatIfPlan;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** Variations of a cluster over one workload, from flags to output. For one thread. */
final class ClusterRun {
    /** Values of {@code --format}. */
    enum Format {
        text,
        json,
        csv,
        html
    }

    private static final String FOR_EXAMPLE = "for example: --trace FILE --sweep host=1%,2%,5%,10%";

    /** The tables for people, each a part of the fields of a row. */
    private static final List<List<String>> TABLES = List.of(
            List.of("hit_ratio", "device", "host", "disk", "store", "lru", "optimum", "ttft_p50_ms", "ttft_p90_ms", "ttft_p99_ms"),
            List.of("loaded_bytes", "saved_bytes", "store_read_bytes", "store_written_bytes", "disk_read_bytes", "disk_written_bytes",
                    "disk_writes_per_saved_byte"),
            List.of("prefill_s_saved", "gpu_hours_saved", "money_saved", "evicted_from_host", "evicted_from_disk", "last_copies_lost", "high_marks",
                    "quotas_exceeded", "most_host_pins", "refused_calls", "rejected"));

    private final WhatIfCommand flags;
    private final PrintWriter out;
    private final PrintWriter err;

    ClusterRun(WhatIfCommand flags, CommandLine line) {
        this.flags = flags;
        this.out = line.getOut();
        this.err = line.getErr();
    }

    /** What is run, and what flags do not say. */
    private record Input(Workload workload, Prompts prompts, ClusterFlags.Defaults defaults) {}

    void run() {
        Input input = input();
        WorkloadProfile profile = WorkloadProfile.of(input.workload);
        List<WhatIfPlan> plans = new ArrayList<>();
        for (ClusterFlags.Named one : flags.cluster.variations(input.defaults)) {
            if (one.draft().routing() == Routing.RECORDED && !(input.workload instanceof RoutedWorkload)) {
                throw new CliError("--route recorded: only a log has routes", "give --log, or another route", CliError.BAD_INPUT);
            }
            plans.add(one.draft().plan(one.name().isEmpty() ? "as given" : one.name(), profile));
        }
        Double price = flags.cluster.gpuHourPrice;
        AtomicInteger done = new AtomicInteger();
        ArrayNode rows = new Comparison(input.workload, input.prompts, price == null ? OptionalDouble.empty() : OptionalDouble.of(price))
                .rows(plans, i -> progress(done.incrementAndGet(), plans, i));
        print(describe(input.workload, profile), rows);
    }

    private synchronized void progress(int done, List<WhatIfPlan> plans, int i) {
        if (plans.size() > 1) {
            err.println(done + " of " + plans.size() + ": " + plans.get(i).name());
            err.flush();
        }
    }

    private Input input() {
        long given = List.of(flags.log != null, flags.trace != null, flags.workload != null).stream().filter(one -> one).count();
        if (given != 1) {
            throw new CliError("give one of --log, --trace and --workload", FOR_EXAMPLE, CliError.BAD_INPUT);
        }
        if (flags.log != null) {
            RecordedLog.Recorded recorded = recorded(flags.log, flags.files.topics(), flags.files.codec());
            Workload workload = first(recorded.workload());
            return new Input(workload, Prompts.of(workload), ClusterFlags.Defaults.of(recorded));
        }
        if (flags.trace != null) {
            Workload workload = flags.traceFile(flags.trace);
            return new Input(workload, Prompts.of(workload), ClusterFlags.Defaults.NEW);
        }
        Workload workload = first(new GeneratedWorkload(flags.generated(String.valueOf(flags.workload))));
        return new Input(workload, Prompts.of(workload), ClusterFlags.Defaults.NEW);
    }

    private Workload first(Workload all) {
        return flags.requests == null ? all : all.first(flags.requests);
    }

    /** Reads a log; when it cannot be read, the error has a hint. */
    static RecordedLog.Recorded recorded(Path directory, Topics topics, Codec codec) {
        return LogChoice.hinting(() -> {
            try (LogSource source = new DirectoryLog(directory)) {
                return new RecordedLog(source, topics, codec).read();
            }
        });
    }

    private static String describe(Workload workload, WorkloadProfile profile) {
        return String.format(
                Locale.ROOT, "%s: %d requests, %d block accesses, %d unique blocks; an infinite cache shared by all nodes would hit %.4f",
                workload.name(), profile.requests(), profile.blockAccesses(), profile.uniqueBlocks(), profile.idealHitRatio());
    }

    private void print(String workload, ArrayNode rows) {
        switch (flags.format) {
            case text -> text(workload, rows);
            case json -> {
                ObjectNode json = new ObjectMapper().createObjectNode();
                json.put("workload", workload).set("rows", rows);
                out.println(json);
            }
            case csv -> CsvText.print(out, rows);
            case html -> WhatIfPage.print(out, workload, rows);
        }
        out.flush();
    }

    private void text(String workload, ArrayNode rows) {
        out.println(workload);
        for (List<String> fields : TABLES) {
            ArrayNode part = new ObjectMapper().createArrayNode();
            for (JsonNode row : rows) {
                ObjectNode cells = part.addObject();
                cells.set("variation", row.get("variation"));
                fields.stream().filter(row::has).forEach(field -> cells.set(field, row.get(field)));
            }
            out.println();
            RowTable.of("", part).print(out, "no variation");
        }
        out.println();
        Iterator<JsonNode> all = rows.iterator();
        while (all.hasNext()) {
            JsonNode row = all.next();
            out.println(row.path("variation").asText() + ": left host and disk: " + orNothing(row.path("evictions_by_reason").asText()));
        }
    }

    private static String orNothing(@Nullable String text) {
        return text == null || text.isEmpty() ? "nothing" : text;
    }
}
