/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.events.Codec;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.audit.stats.StatisticsReader;
import io.tierlog.ops.cli.CliError;
import io.tierlog.ops.cli.ClusterOptions;
import io.tierlog.ops.cli.Sections;
import java.io.PrintWriter;
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
        description = "Show statistics of a log: hit ratios, requests, operations, evictions, latencies.",
        footer = {
            "",
            "It reads the topics of events, commands and decisions, and writes nothing. Hits are blocks of the prompts of prefilled requests;",
            "a block that was fetched for its request counts for the tier it was fetched from. Times come from the append times of records.",
            "Exit codes: 0 complete, 1 records could not be decoded or operations do not add up, 2 the log cannot be read."
        })
final class AuditStatsCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Mixin
    AuditOptions audit;

    @Option(
            names = "--by",
            paramLabel = "WHAT",
            description = "Add a table by ${COMPLETION-CANDIDATES}. A tenant is a namespace of blocks; a group is one of the last policy.")
    @Nullable Breakdown by;

    @Override
    public Integer call() throws Exception {
        LogSummary summary = audit.read(cluster, source -> {
            Codec codec = cluster.codec();
            StatisticsReader reader = new StatisticsReader(source, cluster.topics(), codec, audit.threads());
            return AuditOptions.withProgress(spec.commandLine().getErr(), reader::recordsSoFar, reader::read);
        });
        print(summary);
        boolean complete = summary.records().unreadable() == 0 && summary.operations().breaches() == 0;
        return complete ? 0 : CliError.FAILURE;
    }

    private void print(LogSummary summary) throws JsonProcessingException {
        PrintWriter out = spec.commandLine().getOut();
        switch (audit.format) {
            case text -> {
                Sections sections = new Sections();
                new SummaryText(sections).all(summary);
                sections.lines().forEach(out::println);
                if (by != null) {
                    out.println();
                    by.table(summary).print(out, "nothing to show by " + by);
                }
            }
            case json -> {
                ObjectNode json = SummaryJson.of(summary);
                if (by != null) {
                    json.put("by", by.name()).set("rows", by.rows(summary));
                }
                out.println(new ObjectMapper().writeValueAsString(json));
            }
        }
        out.flush();
    }
}
