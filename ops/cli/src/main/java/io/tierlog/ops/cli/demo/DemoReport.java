/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.audit.stats.LogSummary;
import io.tierlog.ops.cli.audit.SummaryJson;
import io.tierlog.ops.cli.demo.events.RouterView;
import io.tierlog.ops.engine.RunReport;
import java.util.Optional;

/**
 * Result of a run.
 *
 * @param run what the engines measured
 * @param log the statistics of the log; empty when there was none
 * @param settled whether every operation on the log had ended when these were taken
 * @param without the same workload with device caches alone; empty when it was not run
 * @param router what a router saw of engines that publish events; empty when there were none
 */
record DemoReport(RunReport run, Optional<LogSummary> log, boolean settled, Optional<RunReport> without, Optional<RouterView> router) {
    DemoReport(RunReport run, Optional<LogSummary> log, boolean settled, Optional<RunReport> without) {
        this(run, log, settled, without, Optional.empty());
    }

    /** The same, with what a router saw. */
    DemoReport with(RouterView seen) {
        return new DemoReport(run, log, settled, without, Optional.of(seen));
    }

    /** Whether the run is correct: its numbers add up, no byte was wrong, and every operation has exactly one end. */
    boolean sound() {
        boolean logSound = log.map(summary -> settled
                        && summary.records().unreadable() == 0
                        && summary.operations().unfinished() == 0
                        && summary.operations().breaches() == 0)
                .orElse(true);
        return run.addsUp() && run.wrongContent() == 0 && logSound && router.map(seen -> seen.wrong() == 0).orElse(true);
    }

    /** One object, names in snake case. */
    ObjectNode toJson() {
        ObjectNode json = run.toJson();
        log.ifPresent(summary -> {
            SummaryJson.add(json, summary, run.hits().disk());
            JsonNode latencies = json.get("latency_ms");
            if (latencies instanceof ObjectNode object) {
                object.set("submit_to_command", SummaryJson.json(summary.requests().submitToCommand()));
            }
        });
        router.ifPresent(seen -> json.set("router", seen.toJson()));
        without.ifPresent(other -> {
            ObjectNode report = other.toJson();
            ObjectNode brief = json.putObject("without_tiers");
            brief.set("hits", report.get("hits"));
            brief.set("computed_blocks", report.get("computed_blocks"));
            brief.set("hit_ratio", report.get("hit_ratio"));
            brief.set("time_to_first_token_ms", report.get("latency_ms").get("time_to_first_token"));
        });
        return json;
    }
}
