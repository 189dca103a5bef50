/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.report.Row;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One direction of one tier: the agent's transfer, and what it is compared with. Immutable.
 *
 * @param name source and destination
 * @param ours the agent's transfer
 * @param others what it is compared with; the aim is about the first
 * @param aim least share of the first other's GB/s; 0 when there is none
 */
record Comparison(String name, Variant ours, List<Variant> others, double aim) {
    /** All variants, beginning with another one each round, so that none always comes first. */
    List<Variant> turn(int round) {
        List<Variant> variants = new ArrayList<>();
        variants.add(ours);
        variants.addAll(others);
        Collections.rotate(variants, -round);
        return variants;
    }

    /** Its part of the report, from the runs of its variants. */
    Row report(Map<Variant, Series> runs) {
        Series tierlog = series(runs, ours);
        List<Row> rows = others.stream()
                .map(other -> new Row()
                        .with("name", other.name())
                        .with("speed", series(runs, other).report())
                        .rounded("ratio", tierlog.gbPerS() / series(runs, other).gbPerS()))
                .toList();
        Row report = new Row().with("name", name).with("tierlog", tierlog.report()).with("others", rows);
        if (aim > 0 && !rows.isEmpty()) {
            report.with("aim", aim).with("met", rows.getFirst().number("ratio") >= aim);
        }
        return report;
    }

    private static Series series(Map<Variant, Series> runs, Variant variant) {
        return Objects.requireNonNull(runs.get(variant), () -> variant.name() + " has not been run");
    }
}
