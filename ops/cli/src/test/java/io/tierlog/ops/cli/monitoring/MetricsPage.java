/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.monitoring;

import io.tierlog.agent.core.api.AgentCounter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The list of all metrics, made from the source tree: a metric is a name that begins with tierlog_ in a text, followed by its help in a text.
 * ScrapeTest compares names and types with what processes serve.
 */
final class MetricsPage {
    private static final Pattern DECLARED = Pattern.compile(
            "\"(tierlog_[a-z0-9_]+)\"\\)?\\s*[,.]\\s*(?:help\\()?\\s*(\"(?:[^\"\\\\]|\\\\.)*\"(?:\\s*\\+\\s*\"(?:[^\"\\\\]|\\\\.)*\")*)");
    private static final Pattern LABEL_NAMES = Pattern.compile("labelNames\\(([^)]*)\\)");
    private static final Pattern TRAILING = Pattern.compile("^((?:\\s*,\\s*\"[a-z]+\")+)\\s*(?:\\)|,\\s*Map)");
    private static final Pattern TEXT = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");

    static final String HEAD = """
            # Metrics

            This page is made from the code. Do not edit it; run

                mvn -q -B -pl ops/cli -am test -Dtest=MonitoringFilesTest -Dsurefire.failIfNoSpecifiedTests=false -Dtierlog.write.docs=true

            Every process serves its metrics at `/metrics` of its status address, see [operate.md](operate.md). Labels have few values: no node's
            requests, tenants or namespaces are labels. Counters end in `_total`; units are the last word of a name. Histograms are served as
            classic and, to a Prometheus that asks for them, as native histograms, but for the two of the controller, which are classic.
            """;

    /** One metric. */
    record Metric(String name, String type, String labels, String help) {}

    private MetricsPage() {}

    static String of(Path root) throws IOException {
        StringBuilder page = new StringBuilder(HEAD);
        section(page, "Every process", metrics(root.resolve("controller/http")));
        section(page, "Controller", metrics(root.resolve("controller/streams")));
        section(page, "Directory", metrics(root.resolve("controller/directory")));
        SortedMap<String, Metric> agent = metrics(root.resolve("node-agent/app"));
        for (AgentCounter counter : AgentCounter.values()) {
            String name = "tierlog_agent_" + counter.name().toLowerCase(Locale.ROOT) + "_total";
            agent.put(name, new Metric(name, "counter", "", counter.help()));
        }
        section(page, "Agent", agent);
        section(page, "Bridge", metrics(root.resolve("node-agent/bridge")));
        section(page, "Signer of heads", metrics(root.resolve("ops/cli")));
        return page.toString();
    }

    private static void section(StringBuilder page, String title, SortedMap<String, Metric> metrics) {
        page.append("\n## ").append(title).append("\n\n| metric | type | labels | meaning |\n|---|---|---|---|\n");
        for (Metric metric : metrics.values()) {
            page.append("| `").append(metric.name()).append("` | ").append(metric.type()).append(" | ").append(metric.labels()).append(" | ")
                    .append(metric.help().replace("|", "\\|")).append(" |\n");
        }
    }

    static SortedMap<String, Metric> metrics(Path module) throws IOException {
        SortedMap<String, Metric> found = new TreeMap<>();
        List<Path> files;
        try (Stream<Path> all = Files.walk(module.resolve("src/main/java"))) {
            files = all.filter(file -> file.toString().endsWith(".java")).sorted().toList();
        }
        for (Path file : files) {
            String source = Files.readString(file);
            Matcher declared = DECLARED.matcher(source);
            while (declared.find()) {
                String name = declared.group(1);
                found.put(name, new Metric(name, type(name, source, declared.start()), labels(source, declared.end()), texts(declared.group(2), "")));
            }
        }
        return found;
    }

    private static String type(String name, String source, int at) {
        String before = source.substring(Math.max(0, at - 60), at).toLowerCase(Locale.ROOT);
        return before.contains("histogram") ? "histogram" : name.endsWith("_total") ? "counter" : "gauge";
    }

    /** The labels are the texts that follow the help in a call, or those of labelNames before the end of the statement. */
    private static String labels(String source, int from) {
        String rest = source.substring(from, source.indexOf(';', from));
        Matcher trailing = TRAILING.matcher(rest);
        if (trailing.find()) {
            return texts(trailing.group(1), ", ");
        }
        Matcher named = LABEL_NAMES.matcher(rest);
        return named.find() ? texts(named.group(1), ", ") : "";
    }

    private static String texts(String source, String separator) {
        return TEXT.matcher(source).results().map(one -> one.group(1)).collect(Collectors.joining(separator));
    }
}
