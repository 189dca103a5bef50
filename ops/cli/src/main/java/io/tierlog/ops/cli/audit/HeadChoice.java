/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import io.tierlog.ops.audit.Finding;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.heads.HeadCheck;
import io.tierlog.ops.audit.heads.HeadKeys;
import io.tierlog.ops.audit.heads.HeadReport;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.TimeText;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Whether an audit checks signed heads, and how it prints what they prove. */
final class HeadChoice {
    private static final int PRINTED = 10;

    @Option(names = "--head-keys", paramLabel = "FILE",
            description = "Public keys of log sign: also check the signed heads, and that the log is what they say, its end included (default: it"
                    + " does not).")
    @Nullable Path keys;

    @Option(names = "--head-age", paramLabel = "TIME",
            description = "With --head-keys, of a cluster: the last head must not be older than this, for example 5m (default: it may).")
    @Nullable String age;

    /** The check; empty when it is not asked for. */
    Optional<HeadCheck> check(LogSource source, ClusterOptions cluster, int threads) {
        Path file = keys;
        if (file == null) {
            if (age != null) {
                throw new CliError("--head-age goes with --head-keys", "give the file of public keys", CliError.BAD_INPUT);
            }
            return Optional.empty();
        }
        HeadKeys read = ClusterOptions.checked(() -> HeadKeys.read(file));
        return Optional.of(new HeadCheck(source, cluster.topics(), cluster.codec(), read, threads, mostAgeMs(source.isLive())));
    }

    private long mostAgeMs(boolean live) {
        return age == null || !live ? Long.MAX_VALUE : TimeText.parse("--head-age", age);
    }

    /** What the heads prove, for people. */
    static void text(PrintWriter out, HeadReport report) {
        out.println("heads       " + report.heads() + " signed" + report.last().map(last -> ", the last is " + last.number() + " of "
                + Instant.ofEpochMilli(last.timeMs())).orElse("") + ": " + report.records() + " records are as signed, in " + report.stretches()
                + " stretches" + (report.unchecked() == 0 ? "" : "; " + report.unchecked() + " were trimmed and are not checked"));
        if (report.before() > 0) {
            out.println("            " + report.before() + " offsets before the first head are not signed");
        }
        if (report.after() > 0) {
            out.println("            " + report.after() + " offsets after the last head are not signed yet"
                    + (report.afterMs() == 0 ? "" : ", appended in the " + (report.afterMs() + 999) / 1_000 + " s after it"));
        }
        report.findings().stream().limit(PRINTED).forEach(one -> out.println("HEADS       " + one.detail()));
        if (report.found() > PRINTED) {
            out.println("HEADS       and " + (report.found() - PRINTED) + " more");
        }
    }

    /** The same for programs. */
    static Map<String, Object> json(HeadReport report) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("heads", report.heads());
        report.last().ifPresent(last -> json.put("last",
                Map.of("number", last.number(), "hash", last.hash(), "offset", last.offset(), "timeMs", last.timeMs())));
        json.put("records", report.records());
        json.put("stretches", report.stretches());
        json.put("trimmedStretches", report.unchecked());
        json.put("offsetsBeforeFirst", report.before());
        json.put("offsetsAfterLast", report.after());
        json.put("msAfterLast", report.afterMs());
        List<Finding> findings = report.findings();
        json.put("findings", findings.stream().map(one -> Map.of("topic", one.topic(), "partition", one.partition(), "offset", one.offset(),
                "detail", one.detail())).toList());
        json.put("found", report.found());
        return json;
    }
}
