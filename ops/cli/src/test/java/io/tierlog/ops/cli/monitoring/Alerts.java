/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.monitoring;

import java.util.List;
import java.util.Locale;

/** The table of alert rules and recording rules, each alert with a series that makes it fire and one that keeps it silent. */
final class Alerts {
    /**
     * An alert.
     *
     * @param expression ends with a comparison to a number
     * @param minutes for how long the expression must hold
     * @param series whose values the test sets
     * @param labels of the alert, besides its severity
     * @param bad values, one a minute for an hour, with which it fires
     * @param good values with which it does not
     */
    record Alert(String name, String expression, int minutes, String severity, String summary, String series, String labels, String bad,
            String good) {}

    /** A recording rule. */
    record Recording(String name, String expression) {}

    static final List<Recording> RECORDINGS = List.of(
            new Recording("tierlog:requests:rate5m", "sum(rate(tierlog_agent_submitted_total[5m]))"),
            new Recording("tierlog:transfer_bytes:rate5m", "sum by (tier, direction) (rate(tierlog_agent_transfer_bytes_total[5m]))"),
            new Recording("tierlog:waits_expired:rate5m", "sum(rate(tierlog_agent_waits_expired_total[5m]))"),
            new Recording("tierlog:input_age_seconds:p99_5m",
                    "histogram_quantile(0.99, sum by (le) (rate(tierlog_input_age_seconds_bucket[5m])))"),
            new Recording("tierlog:decision_seconds:p99_5m",
                    "histogram_quantile(0.99, sum by (le) (rate(tierlog_decision_seconds_bucket[5m])))"),
            new Recording("tierlog:tier_fill:ratio",
                    "sum by (tier) (tierlog_agent_pages{state=\"serving\"}) / sum by (tier) (tierlog_agent_pages)"));

    private static final String RISES = "0+1x60";
    private static final String STAYS = "5x60";
    private static final String ZERO = "0x60";
    private static final String ONE = "1x60";

    static final List<Alert> ALL = List.of(
            alert("TierlogProcessDown", "up{job=~\"tierlog.*\"} < 1", 2, "critical", "A Tierlog process does not answer the scrape.",
                    "up{job=\"tierlog-agent\"}", "job: tierlog-agent", ZERO, ONE),
            alert("TierlogPartFailed", "max by (job, instance, part) (tierlog_health_level) > 1", 2, "critical",
                    "A part of a process has failed; /health says why.",
                    "tierlog_health_level{job=\"tierlog-agent\", instance=\"a\", part=\"device\"}",
                    "job: tierlog-agent, instance: a, part: device", "2x60", ONE),
            alert("TierlogPartDegraded", "max by (job, instance, part) (tierlog_health_level) > 0", 15, "warning",
                    "A part of a process has been degraded for long; /health says why.",
                    "tierlog_health_level{job=\"tierlog-agent\", instance=\"a\", part=\"store\"}", "job: tierlog-agent, instance: a, part: store",
                    ONE, ZERO),
            alert("TierlogControllerBehind", "histogram_quantile(0.99, sum by (le) (rate(tierlog_input_age_seconds_bucket[5m]))) > 5", 5, "warning",
                    "The controller decides events that are seconds old.", "tierlog_input_age_seconds_bucket{le=\"30\"}", "",
                    "0+60x60", ZERO),
            alert("TierlogLogTimeStands", "time() - min(max by (partition) (tierlog_log_time_seconds)) > 60", 2, "critical",
                    "No tick of log time has been decided for a minute in some partition.", "tierlog_log_time_seconds", "", ZERO, "0+60x60"),
            alert("TierlogTimersLate", "max by (queue) (tierlog_timer_lag_seconds) > 30", 5, "warning",
                    "Timers act late: leases and operations end after their time.", "tierlog_timer_lag_seconds{queue=\"act\"}", "queue: act",
                    "60x60", ZERO),
            alert("TierlogInvariantViolated", "sum by (invariant) (increase(tierlog_invariant_violations_total[30m])) > 0", 0, "critical",
                    "A sample of the controller's tables violates an invariant.", "tierlog_invariant_violations_total{invariant=\"I4\"}",
                    "invariant: I4", RISES, STAYS),
            alert("TierlogRecordsSkipped", "sum by (reason) (increase(tierlog_inputs_skipped_total[30m])) > 0", 0, "warning",
                    "Records of the log could not be read and were skipped.", "tierlog_inputs_skipped_total{reason=\"MALFORMED\"}",
                    "reason: MALFORMED", RISES, STAYS),
            alert("TierlogRecordsForged",
                    "sum by (instance) (increase(tierlog_records_forged_total[30m])) > 0"
                            + " or sum by (instance) (increase(tierlog_agent_commands_forged_total[30m])) > 0", 0, "critical",
                    "Records have no code, or one that their sender's key did not make.", "tierlog_records_forged_total{instance=\"c\"}",
                    "instance: c", RISES, STAYS),
            alert("TierlogLastCopiesLost", "sum(increase(tierlog_last_copies_lost_total[30m])) > 0", 0, "info",
                    "Blocks left and were not known to be held anywhere else.", "tierlog_last_copies_lost_total", "", RISES, STAYS),
            alert("TierlogWaitsExpire",
                    "sum(rate(tierlog_agent_waits_expired_total[10m])) / sum(rate(tierlog_agent_submitted_total[10m])) > 0.2", 10, "warning",
                    "More than a fifth of the requests wait for fetches that come too late.", "tierlog_agent_waits_expired_total", "", RISES, STAYS),
            alert("TierlogEventsUnsent", "max by (instance) (tierlog_agent_unsent_events / tierlog_agent_unsent_events_limit) > 0.5", 2, "warning",
                    "An agent's buffer of events that the log has not acknowledged is half full.", "tierlog_agent_unsent_events{instance=\"a\"}",
                    "instance: a", "15000x60", "10x60"),
            alert("TierlogChecksumFailures", "sum by (instance) (increase(tierlog_agent_checksum_failures_total[30m])) > 0", 0, "critical",
                    "Host pages had other bytes than were written.", "tierlog_agent_checksum_failures_total{instance=\"a\"}", "instance: a",
                    RISES, STAYS),
            alert("TierlogPagesQuarantined", "sum by (instance, tier) (tierlog_agent_pages{state=\"quarantined\"}) > 0", 15, "warning",
                    "Pages stay out of use because a transfer has an unknown outcome.",
                    "tierlog_agent_pages{instance=\"a\", tier=\"host\", state=\"quarantined\"}", "instance: a, tier: host", ONE, ZERO),
            alert("TierlogTransfersFail",
                    "sum by (instance, tier) (rate(tierlog_agent_transfer_failures_total{reason=~\"IO|STORE_UNAVAILABLE\"}[5m])) > 0", 5, "warning",
                    "Transfers of a tier fail with input/output errors, or the store is away.",
                    "tierlog_agent_transfer_failures_total{instance=\"a\", tier=\"store\", reason=\"STORE_UNAVAILABLE\"}", "instance: a, tier: store",
                    RISES, STAYS),
            alert("TierlogDirectoryFull", "sum by (instance) (tierlog_directory_full_partitions) > 0", 1, "warning",
                    "A directory's index is full: it answers UNKNOWN.",
                    "tierlog_directory_full_partitions{instance=\"a\"}", "instance: a", ONE, ZERO),
            alert("TierlogSpaceLow", "min by (directory) (tierlog_free_bytes) < 1073741824", 5, "critical",
                    "Less than 1 GiB is free for the state or the log.", "tierlog_free_bytes{directory=\"log\"}", "directory: log",
                    "1000x60", "2000000000x60"),
            alert("TierlogDirectoryNotWritten", "min by (directory) (tierlog_directory_writable) < 1", 1, "critical",
                    "The state directory cannot be written, or a broker has stopped to use a log directory.",
                    "tierlog_directory_writable{directory=\"state\"}", "directory: state", ZERO, ONE),
            alert("TierlogStateDamaged", "sum(increase(tierlog_state_damaged_total[1h])) > 0", 0, "warning",
                    "Damaged state was set aside and restored from the log.", "tierlog_state_damaged_total", "", RISES, STAYS),
            alert("TierlogTlsFilesUnusable", "max by (instance) (tierlog_tls_files_unusable) > 0", 5, "warning",
                    "The TLS files of a process have changed and cannot be used.", "tierlog_tls_files_unusable{instance=\"a\"}", "instance: a",
                    ONE, ZERO),
            alert("TierlogCertificateExpires", "min by (instance) (tierlog_tls_certificate_expires_seconds > 0) - time() < 259200", 5, "warning",
                    "The certificate of a process expires within three days.", "tierlog_tls_certificate_expires_seconds{instance=\"a\"}",
                    "instance: a", "86400x60", "1000000x60"),
            alert("TierlogHeadsOld", "time() - max(max_over_time(tierlog_heads_last_seconds[1d])) > 300", 2, "warning",
                    "No head of the log has been signed for minutes: what was appended since is not proven.", "tierlog_heads_last_seconds", "",
                    ZERO, "0+60x60"));

    private Alerts() {}

    private static Alert alert(String name, String expression, int minutes, String severity, String summary, String series, String labels,
            String bad, String good) {
        return new Alert(name, expression, minutes, severity, summary, series, labels, bad, good);
    }

    /** The part of an expression before its last comparison: it has data also while the alert is silent. */
    static String measured(Alert alert) {
        return alert.expression().replaceFirst(" [<>] [0-9.]+$", "");
    }

    /** The rules as Prometheus reads them. */
    static String rules() {
        StringBuilder yaml = new StringBuilder("# Made by MonitoringFilesTest; do not edit.\ngroups:\n  - name: tierlog-recording\n    rules:\n");
        for (Recording recording : RECORDINGS) {
            yaml.append("      - record: ").append(recording.name()).append("\n        expr: ").append(quoted(recording.expression())).append('\n');
        }
        yaml.append("  - name: tierlog-alerts\n    rules:\n");
        for (Alert alert : ALL) {
            yaml.append("      - alert: ").append(alert.name())
                    .append("\n        expr: ").append(quoted(alert.expression()))
                    .append("\n        for: ").append(alert.minutes()).append("m\n        labels:\n          severity: ").append(alert.severity())
                    .append("\n        annotations:\n          summary: ").append(quoted(alert.summary()))
                    .append("\n          runbook: ").append(quoted(runbook(alert))).append('\n');
        }
        return yaml.toString();
    }

    /** Two unit tests for each alert: it fires, and it is silent. */
    static String tests() {
        StringBuilder yaml = new StringBuilder(
                "# Made by MonitoringFilesTest; do not edit.\nrule_files:\n  - rules.yml\nevaluation_interval: 1m\ntests:\n");
        for (Alert alert : ALL) {
            test(yaml, alert, alert.bad(), true);
            test(yaml, alert, alert.good(), false);
        }
        return yaml.toString();
    }

    private static void test(StringBuilder yaml, Alert alert, String values, boolean fires) {
        yaml.append("  - name: ").append(alert.name()).append(fires ? " fires" : " is silent").append("\n    interval: 1m\n    input_series:\n");
        series(yaml, alert.series(), values);
        if (alert.series().startsWith("tierlog_agent_unsent")) {
            series(yaml, "tierlog_agent_unsent_events_limit{instance=\"a\"}", "20000x60");
        }
        if (alert.series().startsWith("tierlog_agent_waits")) {
            series(yaml, "tierlog_agent_submitted_total", RISES);
        }
        if (alert.series().startsWith("tierlog_input_age")) {
            series(yaml, "tierlog_input_age_seconds_bucket{le=\"5\"}", ZERO);
            series(yaml, "tierlog_input_age_seconds_bucket{le=\"+Inf\"}", values);
        }
        yaml.append("    alert_rule_test:\n      - eval_time: 45m\n        alertname: ").append(alert.name()).append('\n');
        if (!fires) {
            yaml.append("        exp_alerts: []\n");
            return;
        }
        yaml.append("        exp_alerts:\n          - exp_labels: {severity: ").append(alert.severity())
                .append(alert.labels().isEmpty() ? "" : ", " + alert.labels()).append("}\n            exp_annotations:\n              summary: ")
                .append(quoted(alert.summary())).append("\n              runbook: ").append(quoted(runbook(alert))).append('\n');
    }

    private static void series(StringBuilder yaml, String series, String values) {
        yaml.append("      - series: ").append(quoted(series)).append("\n        values: ").append(quoted(values)).append('\n');
    }

    private static String runbook(Alert alert) {
        return "docs/runbook.md#" + alert.name().toLowerCase(Locale.ROOT);
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
