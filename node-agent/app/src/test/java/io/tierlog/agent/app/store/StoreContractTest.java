/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.store.SharedStore.Result;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What every store must do, several callers at a time too. */
abstract class StoreContractTest extends StoreBasicsTest {
    @Test
    void ofManyWritersExactlyOneArrives() throws Exception {
        List<Future<Result>> writes = new ArrayList<>();
        try (ExecutorService writers = Executors.newFixedThreadPool(8)) {
            for (int i = 0; i < 64; i++) {
                int object = i / 8;
                writes.add(writers.submit(() -> store().write(name(object), buffer(object), crc(object))));
            }
        }
        int arrived = 0;
        for (Future<Result> write : writes) {
            assertTrue(write.get().status() != BlockStatus.FAILED, write.get().detail());
            arrived += write.get().status() == BlockStatus.ARRIVED ? 1 : 0;
        }
        assertEquals(8, arrived, "64 writes of 8 objects");
    }

    /** Four writers put one key until it has been deleted 100 times by two deleters: no generation is given twice. */
    @RepeatedTest(5)
    @Timeout(60)
    void generationsAreGivenOnceUnderPutsAndDeletesAtTheSameTime() throws Exception {
        Churn churn = new Churn(List.of(store())).until(100);
        assertEquals(List.of(), churn.failures());
        assertEquals(List.of(), Churn.twice(churn.given()));
        Result last = write(1);
        for (long generation : churn.given()) {
            if (generation != last.generation()) {
                assertEquals(OperationReason.STALE_GENERATION, store().delete(name(1), generation).reason());
            }
        }
        assertEquals(Result.arrived(crc(1), last.generation()), read(1));
    }
}
