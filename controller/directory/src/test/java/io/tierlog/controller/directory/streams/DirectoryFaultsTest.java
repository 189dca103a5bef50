/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.tierlog.controller.core.feed.PlacementFeed.Publication;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.PlacementLog;
import io.tierlog.controller.directory.probe.ProbeCounts;
import io.tierlog.controller.http.StatusServer;
import io.tierlog.controller.streams.Standstill;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.topic.Topics;
import io.tierlog.events.wire.WireFormat;
import io.tierlog.schemas.directory.Published;
import io.tierlog.threads.LoggedLines;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults that the stream threads of a directory meet, without brokers: what becomes of them, and that each is named. */
class DirectoryFaultsTest {
    @Test
    void aFaultOfTheBrokersReplacesTheThreadAndADefectEndsTheInstance(@TempDir Path state) throws Exception {
        DirectoryConfig config = DirectoryConfig.of(KafkaAccess.of("localhost:1"), Topics.DEFAULT, state);
        try (LoggedLines lines = new LoggedLines(DirectoryStreams.class);
                DirectoryStreams streams = new DirectoryStreams(config, new Codec(Schemas.bundled()), 1, new ProbeCounts())) {
            StreamsException ofBrokers = new StreamsException("commit", new InvalidTxnStateException("it was ended"));
            assertEquals(StreamThreadExceptionResponse.REPLACE_THREAD, streams.fatal(ofBrokers));
            assertFalse(streams.ended().isDone());
            assertEquals(1, replaced(streams.metrics()));
            assertEquals(1, lines.with("another stream thread goes on, since the brokers failed this one: "), lines::toString);

            StreamsException ofOurs = new StreamsException("process", new IllegalStateException("defect"));
            assertEquals(StreamThreadExceptionResponse.SHUTDOWN_CLIENT, streams.fatal(ofOurs));
            assertEquals(Optional.of(ofOurs), streams.ended().get());
            assertEquals(1, replaced(streams.metrics()));
            assertEquals(1, lines.with("the directory stops: process"), lines::toString);
        }
    }

    /** A look each 50 s: 13 of them take 10 min. */
    @Test
    void streamsThatStandsStillEndsTheInstance(@TempDir Path state) throws Exception {
        DirectoryConfig config = DirectoryConfig.of(KafkaAccess.of("localhost:1"), Topics.DEFAULT, state);
        AtomicLong nanos = new AtomicLong();
        Standstill still = new Standstill(() -> new Standstill.Seen(false, true, 0), () -> nanos.getAndAdd(TimeUnit.SECONDS.toNanos(50)));
        try (LoggedLines lines = new LoggedLines(DirectoryStreams.class);
                DirectoryStreams streams = new DirectoryStreams(config, new Codec(Schemas.bundled()), 1, new ProbeCounts())) {
            for (int look = 1; look < 12; look++) {
                streams.stopsIfStill(still);
                assertFalse(streams.ended().isDone(), "look " + look);
            }
            streams.stopsIfStill(still);
            streams.stopsIfStill(still);
            String why = "Kafka Streams has had no thread for 10 min while the brokers answered: start again";
            assertEquals(Optional.of(why), streams.ended().get().map(Throwable::getMessage));
            assertEquals(1, lines.with("the directory stops: " + why), lines::toString);
            assertFalse(streams.report().working(), "beside a controller the process goes on");
        }
    }

    private static double replaced(PrometheusRegistry metrics) {
        return metrics.scrape(name -> name.equals("tierlog_directory_stream_threads_replaced")).stream().map(CounterSnapshot.class::cast)
                .flatMap(counter -> counter.getDataPoints().stream()).mapToDouble(CounterSnapshot.CounterDataPointSnapshot::getValue).sum();
    }

    @Test
    void aRegistryThatIsAwayIsWaitedForAndNamed() throws Exception {
        LocalShards shards = new LocalShards(1);
        DirectoryMetrics metrics = new DirectoryMetrics(shards, new ProbeCounts());
        DirectoryHealth health = new DirectoryHealth(shards, metrics);
        health.streams(KafkaStreams.State.RUNNING);
        byte[] key = new Publication(Namespaces.digest("model/a"), PlacementLog.key(1), "node/a/HOST", null).key().unshared();
        byte[] value = WireFormat.frame(77, new byte[] {1});
        try (LoggedLines lines = new LoggedLines(DirectoryHealth.class);
                RegistryClient away = new RegistryClient(RegistryConfig.of("http://127.0.0.1:1"))) {
            PlacementDecoder decoder =
                    new PlacementDecoder(new Codec(away).reader(Published.class), health, Topics.DEFAULT.placements(), Optional.empty());
            CompletableFuture<Object> reading = CompletableFuture.supplyAsync(() -> decoder.read(key, value), Thread.ofVirtual()::start);
            PlacementLog.await("the wait", () -> health.state() == DirectoryHealth.State.WAITING_FOR_REGISTRY);
            StatusServer.Report report = health.report("i");
            assertFalse(report.working());
            assertTrue(report.body().toString().contains("{\"part\":\"registry\",\"level\":\"FAILED\""), report::toString);
            assertEquals(2, level(metrics.registry(), "registry"));
            assertEquals(1, lines.with("waiting for the schema registry: "), lines::toString);
            decoder.close();
            ExecutionException end = assertThrows(ExecutionException.class, () -> reading.get(60, TimeUnit.SECONDS));
            assertInstanceOf(DirectoryException.Closing.class, end.getCause());
            assertEquals(0, level(metrics.registry(), "registry"));
        }
    }

    private static double level(PrometheusRegistry metrics, String part) {
        return metrics.scrape(name -> name.equals("tierlog_health_level")).stream().map(GaugeSnapshot.class::cast)
                .flatMap(gauge -> gauge.getDataPoints().stream()).filter(point -> part.equals(point.getLabels().get("part")))
                .mapToDouble(GaugeSnapshot.GaugeDataPointSnapshot::getValue).sum();
    }
}
