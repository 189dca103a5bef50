/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.monitoring;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What Prometheus itself says of the rules and the configuration; each alert is shown firing and shown silent by rules-test.yml. */
class PrometheusRulesTest {
    private static final Path DIRECTORY = Path.of(System.getProperty("tierlog.root"), "ops", "deploy", "prometheus");

    @Test
    void theConfigurationAndTheRulesAreValid() throws Exception {
        String said = PrometheusTools.promtool(DIRECTORY, "check", "config", "prometheus.yml");
        assertTrue(said.contains((Alerts.ALL.size() + Alerts.RECORDINGS.size()) + " rules found"), said);
    }

    @Test
    void eachAlertFiresWhenItShouldAndIsSilentOtherwise() throws Exception {
        String said = PrometheusTools.promtool(DIRECTORY, "test", "rules", "rules-test.yml");
        assertTrue(said.contains("SUCCESS"), said);
    }
}
