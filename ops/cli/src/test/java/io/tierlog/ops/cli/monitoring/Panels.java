/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.monitoring;

import java.util.List;

/** The table of all panels of the Grafana dashboards. {@code $i} stands for the choice of instances, {@code $r} for the window of a rate. */
final class Panels {
    /**
     * A panel with one query.
     *
     * @param unit as Grafana names units
     * @param legend with labels in double braces
     */
    record Panel(String title, String unit, String query, String legend) {}

    /** A dashboard: its panels stand in two columns, in their order. */
    record Dashboard(String name, String title, String job, List<Panel> panels) {}

    static final List<Dashboard> ALL = List.of(fleet(), node(), controller(), directory(), tenants());

    private Panels() {}

    private static Panel of(String title, String unit, String query, String legend) {
        return new Panel(title, unit, query.replace("$i", "instance=~\"$instance\"").replace("$r", "[$__rate_interval]"), legend);
    }

    private static String p99(String histogram, String by) {
        return "histogram_quantile(0.99, sum by (le" + (by.isEmpty() ? "" : ", " + by) + ") (rate(" + histogram + "_bucket{$i}$r)))";
    }

    private static Dashboard fleet() {
        return new Dashboard("fleet", "Tierlog: fleet", "tierlog.*", List.of(
                of("Parts that are not well (1 degraded, 2 failed)", "short", "max by (job, part) (tierlog_health_level{$i})", "{{job}} {{part}}"),
                of("Agents by phase", "short", "sum by (phase) (tierlog_agent_phase{$i})", "{{phase}}"),
                of("Requests", "reqps", "sum(rate(tierlog_agent_submitted_total{$i}$r))", "submitted"),
                of("Requests that are answered without a wait", "percentunit",
                        "sum(rate(tierlog_agent_answered_at_once_total{$i}$r)) / sum(rate(tierlog_agent_submitted_total{$i}$r))", "share"),
                of("Bytes moved, by tier and direction", "Bps",
                        "sum by (tier, direction) (rate(tierlog_agent_transfer_bytes_total{$i}$r))", "{{tier}} {{direction}}"),
                of("Fill by tier", "percentunit",
                        "sum by (tier) (tierlog_agent_pages{$i, state=\"serving\"}) / sum by (tier) (tierlog_agent_pages{$i})",
                        "{{tier}}"),
                of("Blocks that arrive on hosts, by tier", "ops",
                        "sum by (tier) (rate(tierlog_agent_transfer_blocks_total{$i, direction=\"to_host\", outcome=\"arrived\"}$r))", "{{tier}}"),
                of("Waits that expire", "ops", "sum(rate(tierlog_agent_waits_expired_total{$i}$r))", "expired"),
                of("Blocks that leave a tier, by reason", "ops", "sum by (tier, reason) (rate(tierlog_blocks_removed_total{$i}$r))",
                        "{{tier}} {{reason}}"),
                of("Last copies lost", "ops", "sum(rate(tierlog_last_copies_lost_total{$i}$r))", "lost")));
    }

    private static Dashboard node() {
        return new Dashboard("node", "Tierlog: node", "tierlog-agent", List.of(
                of("Pages by tier and state", "short", "sum by (tier, state) (tierlog_agent_pages{$i})", "{{tier}} {{state}}"),
                of("Engine calls, 99 of 100 are faster", "s", p99("tierlog_agent_engine_call_duration_seconds", "method"), "{{method}}"),
                of("Transfers, 99 of 100 are faster", "s", p99("tierlog_agent_transfer_duration_seconds", "tier, direction"),
                        "{{tier}} {{direction}}"),
                of("Bytes moved", "Bps", "sum by (tier, direction) (rate(tierlog_agent_transfer_bytes_total{$i}$r))", "{{tier}} {{direction}}"),
                of("Blocks queued or under way", "short", "sum by (tier, direction) (tierlog_agent_transfer_queue_blocks{$i})",
                        "{{tier}} {{direction}}"),
                of("Blocks whose transfer failed", "ops", "sum by (tier, direction, reason) (rate(tierlog_agent_transfer_failures_total{$i}$r))",
                        "{{tier}} {{direction}} {{reason}}"),
                of("Operations that end", "ops", "sum by (kind, end) (rate(tierlog_agent_operations_ended_total{$i}$r))", "{{kind}} {{end}}"),
                of("Operations and requests now", "short", "sum(tierlog_agent_operations_active{$i}) + sum(tierlog_agent_requests_live{$i})", "now"),
                of("Store probes, 99 of 100 are faster", "s", p99("tierlog_agent_store_probe_duration_seconds", ""), "probe"),
                of("Pins by tier", "short", "sum by (tier) (tierlog_agent_pins{$i})", "{{tier}}"),
                of("Leases by holder", "short", "sum by (holder) (tierlog_agent_leases{$i})", "{{holder}}"),
                of("Engine sessions", "short", "sum(tierlog_agent_engine_sessions{$i})", "sessions"),
                of("Events that the log has not acknowledged", "short", "sum(tierlog_agent_unsent_events{$i})", "events"),
                of("Inputs that wait for the core", "short", "sum by (sender) (tierlog_agent_inbox_inputs{$i})", "{{sender}}"),
                of("Files of the disk tier", "bytes", "sum(tierlog_agent_disk_file_bytes{$i})", "files"),
                of("Wrong checksums", "ops", "sum(rate(tierlog_agent_checksum_failures_total{$i}$r))", "pages")));
    }

    private static Dashboard controller() {
        return new Dashboard("controller", "Tierlog: controller", "tierlog-controller", List.of(
                of("Age of an input, 99 of 100 are younger", "s", p99("tierlog_input_age_seconds", ""), "age"),
                of("Time to decide, 99 of 100 are faster", "s", p99("tierlog_decision_seconds", ""), "decision"),
                of("Inputs by type", "ops", "sum by (type) (rate(tierlog_inputs_total{$i}$r))", "{{type}}"),
                of("Decisions by type", "ops", "sum by (type) (rate(tierlog_facts_total{$i}$r))", "{{type}}"),
                of("Commands by type", "ops", "sum by (type) (rate(tierlog_commands_total{$i}$r))", "{{type}}"),
                of("Inputs by outcome", "ops", "sum by (outcome) (rate(tierlog_outcomes_total{$i}$r))", "{{outcome}}"),
                of("Inputs refused, by reason", "ops", "sum by (reason) (rate(tierlog_inputs_refused_total{$i}$r))", "{{reason}}"),
                of("Operations by kind and state", "ops", "sum by (kind, state) (rate(tierlog_operations_total{$i}$r))", "{{kind}} {{state}}"),
                of("Operations that were late", "ops", "sum(rate(tierlog_operations_overdue_total{$i}$r))", "overdue"),
                of("Age of log time", "s", "time() - min(max by (partition) (tierlog_log_time_seconds{$i}))", "oldest partition"),
                of("Timers that are late", "s", "max by (queue) (tierlog_timer_lag_seconds{$i})", "{{queue}}"),
                of("Longest commit", "s", "max(tierlog_streams_commit_max_seconds{$i})", "commit"),
                of("RocksDB files", "bytes", "sum(tierlog_rocksdb_files_bytes{$i})", "files"),
                of("Memory of placements", "bytes", "sum(tierlog_placements_memory_bytes{$i})", "memory"),
                of("Rows of the state, estimated", "short", "sum(tierlog_rocksdb_rows{$i})", "rows"),
                of("Free space", "bytes", "min by (directory) (tierlog_free_bytes{$i})", "{{directory}}"),
                of("Free buffer of the producers", "percentunit", "min(tierlog_producer_buffer_free_ratio{$i})", "free")));
    }

    private static Dashboard directory() {
        return new Dashboard("directory", "Tierlog: directory", "tierlog-directory", List.of(
                of("Keys by where the answer came from", "ops", "sum by (source) (rate(tierlog_directory_keys_total{$i}$r))", "{{source}}"),
                of("Blocks and placements", "short", "sum(tierlog_directory_placements{$i})", "placements"),
                of("Memory of the indexes", "bytes", "sum by (instance) (tierlog_directory_index_bytes{$i})", "{{instance}}"),
                of("Full partitions", "short", "sum(tierlog_directory_full_partitions{$i})", "full"),
                of("Probed blocks, by what became of them", "ops", "sum by (end) (rate(tierlog_directory_probed_blocks_total{$i}$r))", "{{end}}"),
                of("Calls to other instances that failed", "ops", "sum by (reason) (rate(tierlog_directory_failed_forwards_total{$i}$r))",
                        "{{reason}}"),
                of("Unreadable records", "ops", "sum(rate(tierlog_directory_unreadable_records_total{$i}$r))", "records")));
    }

    /** Tenants are no labels, since their number has no bound: what the policy did to them is here, who they are is in the audit. */
    private static Dashboard tenants() {
        return new Dashboard("tenants", "Tierlog: tenants and policy", "tierlog-controller", List.of(
                of("Moves that a quota kept from beginning", "ops", "sum by (kind) (rate(tierlog_quota_exceeded_total{$i}$r))", "{{kind}}"),
                of("Blocks that left, by reason", "ops", "sum by (reason) (rate(tierlog_blocks_removed_total{$i}$r))", "{{reason}}"),
                of("Requests by reason", "ops", "sum by (reason) (rate(tierlog_request_transitions_total{$i}$r))", "{{reason}}"),
                of("Leases that ended, by reason", "ops", "sum by (reason) (rate(tierlog_leases_ended_total{$i}$r))", "{{reason}}"),
                of("Blocks that were not migrated, by reason", "ops", "sum by (reason) (rate(tierlog_migration_blocks_refused_total{$i}$r))",
                        "{{reason}}"),
                of("Warnings about the policy", "short", "sum by (kind) (tierlog_config_warnings_total{$i})", "{{kind}}")));
    }
}
