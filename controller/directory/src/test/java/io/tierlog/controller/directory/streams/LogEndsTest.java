/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import io.tierlog.threads.ThreadFaults;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogEndsTest {
    /** What runs before a look fails, with a cluster that is not there: the next look comes all the same. */
    @Test
    void itLooksAgainAfterAnError(@TempDir Path directory) throws Exception {
        DirectoryConfig config = DirectoryConfig.of(KafkaAccess.of("localhost:1"), new Topics("ends"), directory);
        Semaphore looks = new Semaphore(0);
        AtomicBoolean first = new AtomicBoolean(true);
        try (LogEnds _ = new LogEnds(config, new LocalShards(1), () -> {
            looks.release();
            // The second begins once the fault of the first was counted.
            if (first.getAndSet(false)) {
                throw new StackOverflowError();
            }
        }, () -> {})) {
            assertTrue(looks.tryAcquire(2, 30, TimeUnit.SECONDS));
        }
        assertTrue(ThreadFaults.ofProcess().counts().containsKey("tierlog-directory-ends"));
        ThreadFaults.ofProcess().forget();
    }
}
