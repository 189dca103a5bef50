/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import io.tierlog.controller.directory.probe.ProbeCounts;
import io.tierlog.controller.directory.streams.ForwardFailures.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Failed calls are counted by why, and an instance that does not let this one in is named aloud, once in a while. */
class ForwardFailuresTest {
    private static final Owners.Peer A = new Owners.Peer("a.example", 8083);
    private final Throwable refused = Status.UNAUTHENTICATED.withDescription("the token is not known here").asRuntimeException();

    private final List<String> warnings = new ArrayList<>();
    private final DirectoryMetrics metrics = new DirectoryMetrics(new LocalShards(1), new ProbeCounts());
    // Near the greatest, so that what overflows is seen.
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
    private final ForwardFailures failures = new ForwardFailures(metrics, nanos::get, warnings::add);

    private List<String> warnings() {
        List<String> all = List.copyOf(warnings);
        warnings.clear();
        return all;
    }

    @Test
    void eachIsCountedByItsReason() {
        failures.failed(A, refused);
        failures.failed(A, Status.PERMISSION_DENIED.asRuntimeException());
        failures.failed(A, new TimeoutException());
        failures.failed(A, Status.DEADLINE_EXCEEDED.asRuntimeException());
        failures.failed(A, new ForwardFailures.TooMany("1"));
        failures.failed(A, Status.UNAVAILABLE.asRuntimeException());
        failures.failed(A, new IllegalStateException("closed"));
        failures.failed(A, Status.INVALID_ARGUMENT.asRuntimeException());
        Map<Reason, Long> expected = Map.of(Reason.REFUSED, 2L, Reason.LATE, 2L, Reason.FULL, 1L, Reason.FAILED, 3L);
        expected.forEach((reason, count) -> assertEquals(count, metrics.failedForwards(reason), reason.name()));
    }

    @Test
    void aRefusingInstanceIsLoggedOnceInTenMinutes() {
        failures.failed(A, Status.UNAVAILABLE.asRuntimeException());
        assertEquals(List.of(), warnings());
        failures.failed(A, refused);
        List<String> first = warnings();
        assertEquals(1, first.size());
        assertTrue(first.getFirst().contains("a.example:8083") && first.getFirst().contains("--peer-token-file")
                && first.getFirst().contains("the token is not known here"), first.getFirst());
        nanos.addAndGet(TimeUnit.MINUTES.toNanos(10) - 1);
        failures.failed(A, refused);
        assertEquals(List.of(), warnings());
        failures.failed(new Owners.Peer("b.example", 8083), refused);
        assertEquals(1, warnings().size());
        nanos.addAndGet(1);
        failures.failed(A, refused);
        assertEquals(1, warnings().size());
    }

    /** Of 257 instances the first is forgotten, so it is named again; the last is not. */
    @Test
    void loggedInstancesAreRememberedUpToABound() {
        for (int i = 0; i < 257; i++) {
            failures.failed(new Owners.Peer("i" + i, 1), refused);
        }
        assertEquals(257, warnings().size());
        failures.failed(new Owners.Peer("i256", 1), refused);
        assertEquals(0, warnings().size());
        failures.failed(new Owners.Peer("i0", 1), refused);
        assertEquals(1, warnings().size());
    }
}
