/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.controller.http.Problem;
import io.tierlog.ops.audit.AuditException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** One job at a time, and its failures as problems. */
class LogWorkTest {
    @Test
    void aSecondJobIsRefusedWhileOneRuns() throws Exception {
        try (LogWork work = new LogWork()) {
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> work.run(() -> {
                begun.countDown();
                end.await();
                return "done";
            }, ""));
            assertEquals(true, begun.await(60, TimeUnit.SECONDS));
            assertEquals(Problem.Kind.OVERLOADED, assertThrows(Problem.class, () -> work.run(() -> "never", "")).kind());
            end.countDown();
            assertEquals("done", first.get(60, TimeUnit.SECONDS));
            assertEquals("next", work.run(() -> "next", ""));
        }
    }

    @Test
    void whatTheLogReaderRefusesIsAProblemWithItsHint() {
        try (LogWork work = new LogWork()) {
            Problem refused = assertThrows(Problem.class, () -> work.run(() -> {
                throw new AuditException("the log begins later", "give a snapshot");
            }, ""));
            assertEquals(Problem.Kind.LOG_UNAVAILABLE, refused.kind());
            assertEquals("give a snapshot", refused.action());
        }
    }
}
