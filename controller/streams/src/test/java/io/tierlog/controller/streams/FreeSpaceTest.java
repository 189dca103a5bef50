/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.tierlog.events.TopicAdmin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.kafka.streams.KafkaStreams;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class FreeSpaceTest {
    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final Health health = new Health();

    /** Directories for which the metric is above 0. */
    private String labels(String metric) {
        return registry.scrape().stream().filter(found -> found.getMetadata().getName().equals(metric))
                .filter(GaugeSnapshot.class::isInstance).map(GaugeSnapshot.class::cast)
                .flatMap(gauge -> gauge.getDataPoints().stream())
                .filter(point -> point.getValue() > 0)
                .map(point -> point.getLabels().get("directory")).sorted().collect(Collectors.joining(" "));
    }

    @Test
    void bothDirectoriesAreMeasured() {
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                TopicAdmin admin = new TopicAdmin(log.access)) {
            FreeSpace space = new FreeSpace(directory, registry, health::lowSpace);
            space.lookAtState();
            space.lookAtLog(admin);
            assertEquals("log state", labels("tierlog_free_bytes"));
            assertEquals("log state", labels("tierlog_directory_writable"));
            TopicAdmin.LogDirectories found = admin.logDirectories();
            assertTrue(found.least().orElseThrow().where().startsWith("log directory "), found::toString);
            assertEquals(List.of(), found.offline());
        }
    }

    /** A directory where the probe must be makes every write of it fail, also for a user who may write everywhere. */
    @Test
    void aStateDirectoryThatCannotBeWrittenIsOneWarningAndShownAtHealthUntilItIsOver() throws IOException {
        Logger logger = (Logger) LoggerFactory.getLogger(FreeSpace.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        health.streams(KafkaStreams.State.RUNNING);
        FreeSpace space = new FreeSpace(directory, registry, health::lowSpace);
        space.lookAtState();
        assertEquals("deciding", health.detail());
        assertEquals("state", labels("tierlog_directory_writable"));
        Files.createDirectory(directory.resolve(FreeSpace.PROBE));
        for (int i = 0; i < 3; i++) {
            space.lookAtState();
        }
        String detail = health.detail();
        assertTrue(detail.contains(directory + " cannot be written") && detail.contains("make it writable"), detail);
        assertEquals("", labels("tierlog_directory_writable"));
        assertTrue(health.report("i").working(), "it still decides");
        assertEquals(1, logged.list.size());
        Files.delete(directory.resolve(FreeSpace.PROBE));
        space.lookAtState();
        assertEquals("deciding", health.detail());
        assertEquals("state", labels("tierlog_directory_writable"));
        logger.detachAppender(logged);
    }

    @Test
    void lowSpaceIsOneWarningAndShownAtHealthUntilItIsOver() {
        Logger logger = (Logger) LoggerFactory.getLogger(FreeSpace.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        health.streams(KafkaStreams.State.RUNNING);
        FreeSpace space = new FreeSpace(directory, registry, health::lowSpace);
        space.seen("state", "the state directory /s", 1L << 30, 1L << 40);
        space.seen("log", "log directory /l", 60, 1_000);
        assertEquals("deciding", health.detail());
        for (int i = 0; i < 3; i++) {
            space.seen("state", "the state directory /s", (1L << 30) - 1, 1L << 40);
            space.seen("log", "log directory /l", 49, 1_000);
        }
        assertTrue(health.detail().contains("/s has 1,073,741,823 bytes free") && health.detail().contains("/l has 49 bytes"), health.detail());
        assertTrue(health.report("i").working(), "it still decides");
        assertEquals(2, logged.list.size());
        space.seen("state", "the state directory /s", 1L << 31, 1L << 40);
        space.seen("log", "log directory /l", 50, 1_000);
        assertEquals("deciding", health.detail());
        space.seen("log", "log directory /l", 49, 1_000);
        assertEquals(3, logged.list.size());
        logger.detachAppender(logged);
    }
}
