/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.streams;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.tierlog.ops.dashboard.fold.FoldLimits;
import io.tierlog.ops.dashboard.fold.PartitionFold;
import io.tierlog.ops.dashboard.model.Names;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FoldTasksTest {
    /** A put that does not return, as when the brokers are gone, once held up every page, so that none said that they were. */
    @Test
    void aPageReadsTheFoldWhileItsRowsAreWritten() {
        FoldTasks tasks = new FoldTasks();
        PartitionFold fold = new PartitionFold(FoldLimits.DEFAULTS);
        FoldTasks.Task task = tasks.begin(0, fold);
        fold.unreadable(Names.EVENTS, 1_000);
        List<byte[]> written = new ArrayList<>();
        task.writeOut((key, _) -> {
            CompletableFuture.supplyAsync(() -> tasks.read(PartitionFold::seen)).orTimeout(10, TimeUnit.SECONDS).join();
            written.add(key);
        });
        assertFalse(written.isEmpty());
    }
}
