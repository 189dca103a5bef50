/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.monitoring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * docs/metrics.md, the dashboards and the rules equal what the code makes. With {@code -Dtierlog.write.docs=true} the test writes them instead; the
 * command is in docs/metrics.md.
 */
class MonitoringFilesTest {
    private static final Path ROOT = Path.of(System.getProperty("tierlog.root"));
    private static final Pattern NAME = Pattern.compile("tierlog_[a-z0-9_]+");

    private static void assertWritten(String file, String content) throws Exception {
        Path path = ROOT.resolve(file);
        if (Boolean.getBoolean("tierlog.write.docs")) {
            Files.createDirectories(path.getParent());
            Files.writeString(path, content);
        }
        assertTrue(Files.exists(path), file);
        assertEquals(Files.readString(path), content, file + " is not up to date: docs/metrics.md has the command");
    }

    @Test
    void thePageOfMetricsEqualsTheCode() throws Exception {
        assertWritten("docs/metrics.md", MetricsPage.of(ROOT));
    }

    @Test
    void theDashboardsEqualTheTableOfPanels() throws Exception {
        for (Panels.Dashboard dashboard : Panels.ALL) {
            assertWritten("ops/deploy/grafana/" + dashboard.name() + ".json", GrafanaJson.of(dashboard));
        }
        try (Stream<Path> files = Files.list(ROOT.resolve("ops/deploy/grafana"))) {
            assertEquals(Panels.ALL.size(), files.count(), "a file that no dashboard makes");
        }
    }

    @Test
    void theRulesEqualTheTableOfAlerts() throws Exception {
        assertWritten("ops/deploy/prometheus/rules.yml", Alerts.rules());
        assertWritten("ops/deploy/prometheus/rules-test.yml", Alerts.tests());
    }

    @Test
    void everyAlertHasAnEntryInTheRunbookAndEveryEntryAnAlert() throws Exception {
        List<String> entries = Files.readAllLines(ROOT.resolve("docs/runbook.md")).stream()
                .filter(line -> line.startsWith("## Tierlog")).map(line -> line.substring(3)).toList();
        assertEquals(Alerts.ALL.stream().map(Alerts.Alert::name).sorted().toList(), entries.stream().sorted().toList());
    }

    @Test
    void everyMetricOfAPanelOrARuleIsOnThePage() throws Exception {
        Set<String> known = NAME.matcher(Files.readString(ROOT.resolve("docs/metrics.md"))).results().map(one -> one.group())
                .collect(Collectors.toCollection(HashSet::new));
        Stream<String> queries = Stream.concat(Panels.ALL.stream().flatMap(dashboard -> dashboard.panels().stream()).map(Panels.Panel::query),
                Stream.concat(Alerts.ALL.stream().map(Alerts.Alert::expression), Alerts.RECORDINGS.stream().map(Alerts.Recording::expression)));
        assertEquals(List.of(), queries.flatMap(query -> NAME.matcher(query).results().map(one -> one.group().replaceFirst("_bucket$", "")))
                .filter(name -> !known.contains(name)).distinct().toList());
    }
}
