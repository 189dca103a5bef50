/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.tierlog.controller.http.StatusServer;
import io.tierlog.events.Codec;
import io.tierlog.events.LogReader;
import io.tierlog.events.LogReader.Isolation;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PartitionOpened;
import io.tierlog.threads.LoggedLines;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.streams.KafkaStreams;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A topic that is deleted and made again, as health shows it, and Streams that stands still. */
class LogWatchTest {
    @RegisterExtension
    private static final TestBroker BROKER = new TestBroker();

    private final PrometheusRegistry registry = new PrometheusRegistry();

    private final Standstill standstill = new Standstill(() -> new Standstill.Seen(true, true, 0), () -> 0);

    private double level(String part) {
        return registry.scrape(name -> name.equals("tierlog_health_level")).stream().map(GaugeSnapshot.class::cast)
                .flatMap(gauge -> gauge.getDataPoints().stream()).filter(point -> part.equals(point.getLabels().get("part")))
                .mapToDouble(GaugeSnapshot.GaugeDataPointSnapshot::getValue).sum();
    }

    private static FreeSpace space(Health health) {
        return new FreeSpace(Path.of("."), new PrometheusRegistry(), health::lowSpace);
    }

    @Test
    void aMissingTopicIsNamedAtHealthUntilItIsThereAgain() throws Exception {
        Health health = new Health();
        ControllerParts parts = new ControllerParts(registry, health);
        health.streams(KafkaStreams.State.RUNNING);
        List<Throwable> failures = new ArrayList<>();
        try (LoggedLines lines = new LoggedLines(LogWatch.class);
                TestLog log = new TestLog(BROKER.kafka(), 2);
                TopicAdmin topics = new TopicAdmin(log.access);
                Admin admin = Admin.create(log.access.client(Map.of()))) {
            LogOwner owner = new LogOwner(log.access, log.topics, log.codec, 2, "c", (_, _) -> {});
            try (LogWatch watch = new LogWatch(log.access, log.topics, owner, health, space(health), standstill, failures::add, 50)) {
                admin.deleteTopics(List.of(log.topics.commands())).all().get(30, TimeUnit.SECONDS);
                watch.start();
                TestLog.await("the finding", () -> health.state() == Health.State.LOG_INCOMPLETE);
                assertTrue(health.detail().contains(log.topics.commands()), health.detail());
                StatusServer.Report report = parts.report("i");
                assertFalse(report.working());
                assertTrue(report.body().toString().contains("{\"part\":\"log\",\"level\":\"FAILED\",\"detail\":\""), report::toString);
                assertEquals(2, level("log"));
                assertEquals(1, lines.with(log.topics.commands()), lines::toString);
                topics.create(log.topics, 2, 1);
                TestLog.await("its end", () -> health.state() == Health.State.RUNNING);
            }
        }
        assertEquals(List.of(), failures);
    }

    /** A look each 50 s of the watch's clock. */
    @Test
    void streamsThatStandsStillEndsTheInstance() throws Exception {
        Health health = new Health();
        AtomicLong nanos = new AtomicLong();
        Standstill stands = new Standstill(() -> new Standstill.Seen(false, true, 0), () -> nanos.getAndAdd(TimeUnit.SECONDS.toNanos(50)));
        BlockingQueue<ControllerException> failures = new LinkedBlockingQueue<>();
        try (TestLog log = new TestLog(BROKER.kafka(), 1)) {
            LogOwner owner = new LogOwner(log.access, log.topics, log.codec, 1, "c", (_, _) -> {});
            try (LogWatch watch = new LogWatch(log.access, log.topics, owner, health, space(health), stands, failures::add, 5)) {
                watch.start();
                ControllerException why = failures.poll(TestLog.PATIENCE.toSeconds(), TimeUnit.SECONDS);
                assertInstanceOf(ControllerException.StoodStill.class, why);
                assertTrue(String.valueOf(why.getMessage()).startsWith("Kafka Streams has had no thread for 10 min while the brokers answered"),
                        why::toString);
            }
        }
    }

    @Test
    void aRegistryThatDoesNotAnswerDoesNotEndTheWatch(@TempDir Path state) throws Exception {
        Health health = new Health();
        health.streams(KafkaStreams.State.RUNNING);
        List<Throwable> failures = new ArrayList<>();
        CountDownLatch asked = new CountDownLatch(1);
        HttpServer failing = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        failing.createContext("/", exchange -> {
            asked.countDown();
            exchange.sendResponseHeaders(503, -1);
            exchange.close();
        });
        failing.start();
        try (TestLog log = new TestLog(BROKER.kafka(), 1);
                Admin admin = Admin.create(log.access.client(Map.of()));
                RegistryClient registry = new RegistryClient(RegistryConfig.of("http://127.0.0.1:" + failing.getAddress().getPort()))) {
            try (LogReader<Fact> reader = log.reader(log.topics.decisions(), Fact.class, Isolation.COMMITTED);
                    ControllerApp _ = ControllerApp.start(log.controller(state).tickMs(50).build())) {
                Decisions decisions = new Decisions(reader);
                TestLog.await("the first decision", () -> !decisions.of(PartitionOpened.class).isEmpty());
            }
            LogOwner owner = new LogOwner(log.access, log.topics, new Codec(registry), 1, log.topics.prefix() + "-controller", (_, _) -> {});
            try (LogWatch watch = new LogWatch(log.access, log.topics, owner, health, space(health), standstill, failures::add, 50)) {
                watch.start();
                assertTrue(asked.await(TestLog.PATIENCE.toSeconds(), TimeUnit.SECONDS));
                admin.deleteTopics(List.of(log.topics.commands())).all().get(30, TimeUnit.SECONDS);
                TestLog.await("the finding", () -> health.state() == Health.State.LOG_INCOMPLETE);
            }
        } finally {
            failing.stop(0);
        }
        assertEquals(List.of(), failures);
    }
}
