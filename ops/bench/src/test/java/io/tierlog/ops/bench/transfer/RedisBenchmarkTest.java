/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.bench.transfer.Fio.Mode;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Shape;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The CSV of redis-benchmark 7.0.15. */
final class RedisBenchmarkTest {
    private static final String NAMES =
            "\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\",\"p95_latency_ms\",\"p99_latency_ms\",\"max_latency_ms\"";
    private static final String SET = "\"SET\",\"500.00\",\"9.156\",\"2.896\",\"8.783\",\"14.311\",\"21.263\",\"21.263\"";
    private static final String GET = "\"GET\",\"250.00\",\"9.156\",\"2.896\",\"4.783\",\"14.311\",\"11.263\",\"21.263\"";
    /** 100 blocks of 2,000,000 bytes, 8 at a time. */
    private static final Shape SHAPE = new Shape(2_000_000, 100, 8);

    @Test
    void eachDirectionIsReadFromItsOwnLineByTheNamesOfTheColumns() {
        Sample write = RedisBenchmark.parse(Mode.write, List.of("WARNING: something", NAMES, SET, GET), SHAPE);
        // 100 requests at 500 a second are 0.2 s, for 200 MB: 1 GB/s.
        assertEquals(new Sample(200_000_000, 200_000_000, 8_783_000, 21_263_000), write);
        Sample read = RedisBenchmark.parse(Mode.read, List.of(NAMES, SET, GET), SHAPE);
        assertEquals(new Sample(200_000_000, 400_000_000, 4_783_000, 11_263_000), read);
    }

    @Test
    void anotherOutputIsAnError() {
        for (List<String> answer : List.of(
                List.<String>of(), List.of(NAMES), List.of(SET), List.of(NAMES, GET), List.of(NAMES, SET.replace("500.00", "0.00")),
                List.of(NAMES, SET.replace("500.00", "-nan")), List.of(NAMES.replace("p99", "p98"), SET))) {
            BenchException failed = assertThrows(BenchException.class, () -> RedisBenchmark.parse(Mode.write, answer, SHAPE), answer::toString);
            assertTrue(failed.getMessage().startsWith("redis-benchmark failed: "), failed.getMessage());
        }
    }
}
