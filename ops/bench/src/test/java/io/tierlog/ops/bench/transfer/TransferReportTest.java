/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.bench.report.Report;
import io.tierlog.ops.bench.report.Row;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Ratios, aims and the text, from samples made by hand. */
final class TransferReportTest {
    private static Variant variant(String name) {
        return new Variant(name, () -> new Sample(1, 1, 1, 1));
    }

    private static Series series(long... nanosOfAThousandBytes) {
        Series series = new Series();
        for (long nanos : nanosOfAThousandBytes) {
            series.add(new Sample(1_000, nanos, 1_500_000, 2_500_000));
        }
        return series;
    }

    @Test
    void aRatioIsThatOfTheMediansAndTheAimIsAboutTheFirst() {
        Variant ours = variant("Tierlog");
        Variant fio = variant("fio-3.33");
        Variant slow = variant("slow");
        Map<Variant, Series> runs = new LinkedHashMap<>();
        runs.put(ours, series(500, 400, 1_000)); // 2, 2.5, 1: median 2 GB/s
        runs.put(fio, series(400, 100, 800)); // 2.5, 10, 1.25: median 2.5 GB/s
        runs.put(slow, series(1_000, 1_000, 1_000));
        Row below = new Comparison("host to disk", ours, List.of(fio, slow), 0.9).report(runs);
        assertEquals(List.of(0.8, 2.0), below.rows("others").stream().map(other -> other.number("ratio")).toList());
        assertEquals(false, below.value("met"));
        assertEquals(true, new Comparison("host to disk", ours, List.of(fio), 0.8).report(runs).value("met"), "0.80 is 0.80");
        assertFalse(new Comparison("host to disk", ours, List.of(), 0.9).report(runs).has("met"), "without fio there is no aim");
        TransferBenchConfig config = new TransferBenchConfig(
                Set.of(TransferBenchConfig.Tier.disk), TransferBenchConfig.DEFAULTS.device(), new TransferBenchConfig.Shape(2_359_296, 256, 8), 3,
                TransferBenchConfig.Places.TEMPORARY, TransferBenchConfig.DEFAULTS.fio());
        Row disk = new Row().with("title", "disk").with("directions", List.of(below));
        Report report = TransferReport.of(config, List.of(disk), List.of("a note"), 12.4);
        assertTrue(report.valid());
        assertEquals(
                """
                256 blocks of 2,359,296 bytes, 8 at a time on disk and stores, 3 rounds of all in turn, 12 s

                  disk                                                              GB/s          rounds   p50 ms   p99 ms   Tierlog to it
                  host to disk: Tierlog                                             2.00    1.00-2.50        1.50     2.50
                    fio-3.33                                                        2.50    1.25-10.00       1.50     2.50   0.80, aim 0.90 not met
                    slow                                                            1.00    1.00-1.00        1.50     2.50   2.00

                a note

                GB/s is the median of the rounds, then the slowest and the fastest; ms are of one block.
                """,
                report.text().replaceAll(" +\n", "\n").replaceAll("\r", ""));
    }

    @Test
    void everyRoundBeginsWithAnotherVariant() {
        Comparison comparison = new Comparison("x", variant("a"), List.of(variant("b"), variant("c")), 0);
        List<String> firsts = List.of(0, 1, 2, 3).stream().map(round -> comparison.turn(round).getFirst().name()).toList();
        assertEquals(List.of("a", "b", "c", "a"), firsts);
    }
}
