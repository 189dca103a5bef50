/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

class DamagedStateTest {
    private static final TaskId TASK = new TaskId(0, 3);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private final List<String> reported = new ArrayList<>();

    private static ProcessorStateException failure(Status.Code code, String message) {
        return new ProcessorStateException("Error opening store", new RocksDBException(message, new Status(code, Status.SubCode.None, message)));
    }

    private Path files() throws IOException {
        Path files = Files.createDirectories(directory.resolve("app/0_3/rocksdb/rows"));
        Files.writeString(files.resolve("000001.sst"), "rows " + reported.size());
        return files;
    }

    @Test
    void whatIsFoundWhileRunningIsKeptOnceAndNotOpenedAgain() throws IOException {
        DamagedState damaged = new DamagedState(directory, reported::add);
        Path files = files();
        ProcessorStateException failure = failure(Status.Code.Corruption, "block checksum mismatch");
        assertInstanceOf(TaskCorruptedException.class, damaged.whileRunning(TASK, files, failure));
        assertInstanceOf(TaskCorruptedException.class, damaged.whileRunning(TASK, files, failure), "its next rows");
        assertEquals(1, reported.size());
        Path kept = directory.resolve("corrupt-state/0_3/000001.sst");
        damaged.beforeOpening(TASK, files);
        assertFalse(Files.exists(files));
        assertEquals("rows 0", Files.readString(kept));
        damaged.whileOpening(TASK, files(), failure);
        assertEquals("rows 1", Files.readString(kept), "the last one is kept");
        Path healthy = files();
        damaged.beforeOpening(TASK, healthy);
        assertTrue(Files.exists(healthy));
    }

    @Test
    void otherFailuresAndADiskThatFailsAgainAndAgainArePassedOn() throws IOException {
        DamagedState damaged = new DamagedState(directory, reported::add);
        Path files = files();
        for (String other : List.of("While lock file: /x/LOCK: Resource temporarily unavailable", "No space left on device", "Permission denied")) {
            ProcessorStateException failure = failure(Status.Code.IOError, other);
            assertSame(failure, assertThrows(ProcessorStateException.class, () -> damaged.whileOpening(TASK, files, failure)));
            assertSame(failure, assertThrows(ProcessorStateException.class, () -> damaged.whileRunning(TASK, files, failure)));
        }
        assertTrue(Files.exists(files));
        ProcessorStateException missing = failure(Status.Code.IOError, "No such file or directory: While open a file: 000007.sst");
        for (int i = 0; i < 3; i++) {
            damaged.whileOpening(TASK, files(), missing);
        }
        assertSame(missing, assertThrows(ProcessorStateException.class, () -> damaged.whileOpening(TASK, files(), missing)));
        damaged.whileOpening(new TaskId(0, 4), files(), missing);
        assertEquals(4, reported.size());
    }
}
