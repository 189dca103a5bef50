/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.events.Codec;
import io.tierlog.ops.audit.stats.LogDetail;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.audit.stats.PowerHistogram;
import io.tierlog.ops.audit.stats.StatisticsReader;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.Sections;
import io.tierlog.ops.cli.command.TimeText;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog audit stats}: the statistics of a log. */
@Command(
        name = "stats",
        description = "Show statistics of a log: hit ratios, requests, operations, evictions, latencies, how soon blocks are used again.",
        footer = {
            "",
            "It reads the topics of events, commands and decisions, and writes nothing. Hits are blocks of the prompts of prefilled requests;",
            "a block that was fetched for its request counts for the tier it was fetched from. Times come from the append times of records.",
            "--from and --to take times here. csv prints the rows of --every, or else of --by. html is one page with charts that needs no network:",
            "redirect it to a file.",
            "Exit codes: 0 complete, 1 records could not be decoded or operations do not add up, 2 wrong input, or the log cannot be read."
        })
final class AuditStatsCommand implements Callable<Integer> {
    private static final String PAGE_EVERY = "10s";

    /** Values of {@code --format}. */
    enum Format {
        text,
        json,
        csv,
        html
    }

    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Mixin
    LogChoice audit;

    @Mixin
    StretchOptions stretch;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    Format format = Format.text;

    @Option(
            names = "--by",
            paramLabel = "WHAT",
            description = "Add a table by ${COMPLETION-CANDIDATES}. A tenant is a namespace of blocks; a group is one of the last policy.")
    @Nullable Breakdown by;

    @Option(
            names = "--every",
            paramLabel = "TIME",
            description = "Add numbers for each interval of this length, for example 1m, and for each value of --by (default for html: "
                    + PAGE_EVERY + ").")
    @Nullable String every;

    @Override
    public Integer call() throws Exception {
        long everyMs = every == null ? format == Format.html ? TimeText.parse("--every", PAGE_EVERY) : 0 : TimeText.parse("--every", every);
        if (every != null && everyMs == 0) {
            throw new CliError("--every must be longer than 0", "write for example 1m", CliError.BAD_INPUT);
        }
        if (format == Format.csv && every == null && by == null) {
            throw new CliError("csv is one table, and neither --every nor --by says which", "add for example --every 1m", CliError.BAD_INPUT);
        }
        LogDetail detail = new LogDetail(everyMs == 0 && by != null ? LogDetail.ONE_INTERVAL : everyMs);
        LogSummary summary = audit.read(cluster, source -> {
            Codec codec = cluster.codec();
            StatisticsReader reader = new StatisticsReader(source, cluster.topics(), codec, audit.threads());
            return LogChoice.withProgress(spec.commandLine().getErr(), source,
                    () -> reader.read(stretch.stretch(cluster.topics()), Optional.of(detail)));
        });
        print(summary, detail.summary(), everyMs);
        boolean complete = summary.records().unreadable() == 0 && summary.operations().breaches() == 0;
        return complete ? 0 : CliError.FAILURE;
    }

    private void print(LogSummary summary, LogDetail.Summary detail, long everyMs) throws JsonProcessingException {
        PrintWriter out = spec.commandLine().getOut();
        ArrayNode series = new SeriesRows(summary.requests().groups()).rows(by, detail.intervals());
        switch (format) {
            case text -> text(out, json(summary, detail, series, everyMs), summary);
            case json -> out.println(new ObjectMapper().writeValueAsString(json(summary, detail, series, everyMs)));
            case csv -> CsvText.print(out, every != null || by == null ? series : by.rows(summary, detail.intervals()));
            case html -> new StatsPage(json(summary, detail, series, everyMs), by == null ? "what" : by.name()).print(out);
        }
        out.flush();
    }

    private void text(PrintWriter out, ObjectNode json, LogSummary summary) {
        Sections sections = new Sections();
        new SummaryText(sections).all(summary);
        sections.lines().forEach(out::println);
        out.println();
        out.println("Other blocks used between two uses of a block on a node (a cache of that many blocks would have kept it)");
        RowTable.of("reuse_distance", json.withArray("reuse_distance")).print(out, "no block was used twice");
        out.println();
        out.println("Time between two uses of a block on a node, in ms");
        RowTable.of("idle_time_ms", json.withArray("idle_time_ms")).print(out, "no block was used twice");
        out.println();
        out.println("Prefixes that saved most, by their first block");
        RowTable.of("top_prefixes", json.withArray("top_prefixes")).print(out, "nothing was reused");
        if (by != null) {
            out.println();
            RowTable.of(by.name(), json.withArray("rows")).print(out, "nothing to show by " + by);
        }
        if (every != null) {
            out.println();
            RowTable.of("every " + every, json.withArray("series")).print(out, "nothing happened");
        }
    }

    private ObjectNode json(LogSummary summary, LogDetail.Summary detail, ArrayNode series, long everyMs) {
        ObjectNode json = SummaryJson.of(summary);
        if (by != null) {
            json.put("by", by.name()).set("rows", by.rows(summary, detail.intervals()));
        }
        if (everyMs > 0) {
            json.put("every_ms", everyMs).set("series", series);
        }
        histogram(json.putArray("reuse_distance"), detail.reuseDistance());
        histogram(json.putArray("idle_time_ms"), detail.idleMs());
        json.put("first_uses", detail.firstUses());
        ArrayNode top = json.putArray("top_prefixes");
        detail.topPrefixes().forEach(prefix -> top.addObject().put("namespace", prefix.namespace()).put("first_block", prefix.key())
                .put("requests", prefix.requests()).put("blocks", prefix.blocks()).put("saved_bytes", prefix.bytes()));
        return json;
    }

    private static void histogram(ArrayNode rows, List<PowerHistogram.Bucket> buckets) {
        buckets.forEach(bucket -> rows.addObject().put("from", bucket.from()).put("to", bucket.to()).put("count", bucket.count()));
    }
}
