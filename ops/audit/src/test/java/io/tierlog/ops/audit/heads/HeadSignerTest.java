/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogSetupException;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A signer that runs for long: over the restart of the broker, and when the log shrinks under it. */
@SuppressWarnings("NullAway.Init") // JUnit sets the fields.
class HeadSignerTest {
    private static final Duration SOON = Duration.ofMillis(100);

    @TempDir
    private Path data;

    @TempDir
    private Path root;

    private static void await(BooleanSupplier condition) {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < deadlineNs, "it does not come");
            LockSupport.parkNanos(20_000_000);
        }
    }

    @Test
    void itWaitsForABrokerThatIsAwayAndGoesOn() throws Exception {
        EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(data).withPort(0));
        int port = Integer.parseInt(broker.bootstrapServers().substring(broker.bootstrapServers().lastIndexOf(':') + 1));
        KafkaAccess access = new KafkaAccess(broker.bootstrapServers(), Map.of(), Duration.ofSeconds(5));
        SignedLog log = new SignedLog(access, "away", root);
        try (HeadSigner signer = HeadSigner.start(log.config(SOON))) {
            log.events(0, "event-1");
            await(() -> signer.last().number() == 1);
            broker.close();
            broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(data).withPort(port));
            log.events(0, "event-2");
            log.decisions(1, true, "d1");
            try (LogSource cluster = new ClusterLog(access)) {
                await(() -> isSigned(log, cluster));
                HeadReport report = log.check(cluster);
                assertEquals(List.of(0L, 3L), List.of(report.found(), report.records()), report::toString);
            }
            assertEquals(false, signer.ended().isDone());
        } finally {
            broker.close();
        }
    }

    private static boolean isSigned(SignedLog log, LogSource source) {
        try {
            return log.check(source).after() == 0;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void withoutBrokerOrTopicItDoesNotBegin() throws Exception {
        KafkaAccess nowhere = new KafkaAccess("127.0.0.1:1", Map.of(), Duration.ofMillis(500));
        EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(data).withPort(0));
        try {
            SignedLog log = new SignedLog(KafkaAccess.of(broker.bootstrapServers()), "log", root);
            HeadSigner.Config config = new HeadSigner.Config(nowhere, log.topics, log.codec, log.keys(), log.key(), SOON);
            assertThrows(LogSetupException.BrokerUnreachable.class, () -> HeadSigner.start(config).close());
            assertThrows(IllegalArgumentException.class, () -> log.config(Duration.ofMillis(99)));
        } finally {
            broker.close();
        }
    }
}
