/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.cli.CliError;
import io.tierlog.ops.cli.OutputFormat;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * The same requests without promotion from the disk and with it: two rows of one table, each over all the runs of its kind.
 *
 * @param warmUp requests that were replayed before, and are not counted
 * @param runs in the order in which they ran; at least one of either kind
 */
record PromotionComparison(int warmUp, List<Run> runs) {
    /**
     * One run.
     *
     * @param promotes whether a directory was asked to have promoted what only a disk has; otherwise it was asked ahead of requests, and nothing more
     * @param report what came of it
     */
    record Run(boolean promotes, DemoReport report) {
        private String name() {
            return promotes ? "on" : "off";
        }
    }

    PromotionComparison {
        runs = List.copyOf(runs);
    }

    /** Prints both and returns the exit code they deserve. */
    int print(OutputFormat format, PrintWriter out) throws IOException {
        switch (format) {
            case text -> lines().forEach(out::println);
            case json -> out.println(new ObjectMapper().writeValueAsString(toJson()));
        }
        out.flush();
        return runs.stream().allMatch(run -> run.report().sound()) ? 0 : CliError.FAILURE;
    }

    /** The report of the last run with promotion, and the table of all. */
    List<String> lines() {
        List<String> lines = new ArrayList<>(DemoTable.of(last(true)));
        lines.add("");
        lines.add("Promotion from the disk ahead of requests, the same requests without and with it; blocks, and times of submit to ready of all");
        lines.add(PromotionRow.HEAD);
        lines.add(together(false).line("off"));
        lines.add(together(true).line("on"));
        if (runs.size() > 2) {
            lines.add("  each run:");
            runs.forEach(run -> lines.add(PromotionRow.of(run.report()).line("  " + run.name())));
        }
        lines.add("  run first: " + runs.getFirst().name() + ", after " + DemoTable.count(warmUp) + " requests to warm up, which are not counted");
        return List.copyOf(lines);
    }

    /** The report of the last run with promotion, with that of the last one without and the table inside. */
    ObjectNode toJson() {
        ObjectNode json = last(true).toJson();
        ArrayNode table = json.putArray("promotion_table");
        together(false).into(table.addObject().put("promotion", "off"));
        together(true).into(table.addObject().put("promotion", "on"));
        ArrayNode each = json.putArray("promotion_runs");
        runs.forEach(run -> PromotionRow.of(run.report()).into(each.addObject().put("promotion", run.name())));
        json.put("warm_up_requests", warmUp);
        json.set("without_promotion", last(false).toJson());
        return json;
    }

    /** The report of the last run of that kind. */
    DemoReport last(boolean promotes) {
        return runs.reversed().stream().filter(run -> run.promotes() == promotes).findFirst().orElseThrow().report();
    }

    private PromotionRow together(boolean promotes) {
        return runs.stream()
                .filter(run -> run.promotes() == promotes)
                .map(run -> PromotionRow.of(run.report()))
                .reduce(PromotionRow::plus)
                .orElseThrow();
    }
}
