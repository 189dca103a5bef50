/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.bench.transfer.Fio.Mode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The report of fio 3.33, without the fields that the benchmark ignores. */
final class FioTest {
    private static final String ANSWER =
            """
            fio: this platform does not support process shared mutexes
            {
              "fio version" : "fio-3.33",
              "jobs" : [ {
                "jobname" : "tierlog",
                "read" : {
                  "io_bytes" : 301989888, "bw_bytes" : 2000000000, "runtime" : 151,
                  "clat_ns" : { "mean" : 11.5, "percentile" : { "50.000000" : 8000000, "99.000000" : 9000000 } }
                },
                "write" : {
                  "io_bytes" : 301989888, "bw_bytes" : 1623601548, "runtime" : 186,
                  "clat_ns" : { "mean" : 11.5, "percentile" : { "50.000000" : 12124160, "99.000000" : 14483456 } }
                }
              } ]
            }
            """;

    @Test
    void eachDirectionIsReadFromItsOwnPart() {
        Sample write = Fio.parse(Mode.write, ANSWER);
        assertEquals(301_989_888, write.bytes());
        assertEquals(1.6236, write.gbPerS(), 1e-4);
        assertEquals(12_124_160, write.p50Nanos());
        assertEquals(14_483_456, write.p99Nanos());

        Sample read = Fio.parse(Mode.read, ANSWER);
        assertEquals(150_994_944, read.nanos()); // 301,989,888 bytes at 2 bytes a ns
        assertEquals(8_000_000, read.p50Nanos());
    }

    @Test
    void anotherOutputIsAnError() {
        String without = ANSWER.replace("\"bw_bytes\" : 1623601548", "\"bw_bytes\" : 0");
        for (String answer : List.of("", "fio: pid=0, err=22", "{\"jobs\": []}", without, ANSWER.replace("50.000000", "51.000000"))) {
            BenchException failed = assertThrows(BenchException.class, () -> Fio.parse(Mode.write, answer), answer);
            assertTrue(failed.getMessage().startsWith("fio failed: "), failed.getMessage());
        }
    }
}
