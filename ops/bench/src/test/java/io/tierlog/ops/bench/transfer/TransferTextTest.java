/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Ratios, aims and the text, from samples made by hand. */
final class TransferTextTest {
    private static Way way(String name) {
        return new Way(name, () -> new Sample(1, 1, 1, 1));
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
        Way ours = way("Tierlog");
        Way fio = way("fio-3.33");
        Way slow = way("slow");
        Map<Way, Series> runs = new LinkedHashMap<>();
        runs.put(ours, series(500, 400, 1_000)); // 2, 2.5, 1: median 2 GB/s
        runs.put(fio, series(400, 100, 800)); // 2.5, 10, 1.25: median 2.5 GB/s
        runs.put(slow, series(1_000, 1_000, 1_000));
        TransferReport.Direction below = TransferReport.direction(new Contest("host to disk", ours, List.of(fio, slow), 0.9), runs);
        assertEquals(List.of(0.8, 2.0), below.others().stream().map(TransferReport.Other::ratio).toList());
        assertEquals(false, below.met());
        assertEquals(true, TransferReport.direction(new Contest("host to disk", ours, List.of(fio), 0.8), runs).met(), "0.80 is 0.80");
        assertNull(TransferReport.direction(new Contest("host to disk", ours, List.of(), 0.9), runs).met(), "without fio nothing is judged");

        TransferReport report =
                new TransferReport(List.of(new TransferReport.Tier("disk", List.of(below))), List.of("a note"), 2_359_296, 256, 8, 3, 12.4);
        assertEquals(
                """
                256 blocks of 2,359,296 bytes, 8 at a time on disk and store, 3 rounds of all in turn, 12 s

                  disk                                                              GB/s          rounds   p50 ms   p99 ms   Tierlog to it
                  host to disk: Tierlog                                             2.00    1.00-2.50        1.50     2.50
                    fio-3.33                                                        2.50    1.25-10.00       1.50     2.50   0.80, aim 0.90 not met
                    slow                                                            1.00    1.00-1.00        1.50     2.50   2.00

                a note

                GB/s is the median of the rounds, then the slowest and the fastest; ms are of one block.
                """,
                TransferText.of(report).replaceAll(" +\n", "\n").replaceAll("\r", ""));
    }

    @Test
    void everyRoundBeginsWithAnotherWay() {
        Contest contest = new Contest("x", way("a"), List.of(way("b"), way("c")), 0);
        List<String> firsts = List.of(0, 1, 2, 3).stream().map(round -> contest.turn(round).getFirst().name()).toList();
        assertEquals(List.of("a", "b", "c", "a"), firsts);
    }
}
