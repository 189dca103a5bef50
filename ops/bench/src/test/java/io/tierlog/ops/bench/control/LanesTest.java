/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.FileLogInputStream.FileChannelRecordBatch;
import org.apache.kafka.common.record.internal.FileRecords;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The parts without a controller, on one broker: what goes in comes out, once. */
@Tag("slow")
final class LanesTest {
    private static final ControlBenchConfig CONFIG = new ControlBenchConfig(
            Optional.empty(),
            new ControlBenchConfig.Load(200, 1, 1, 1),
            new ControlBenchConfig.Shape(4, 2, 2, 1_000),
            new ControlBenchConfig.Tuning(50, 0),
            ControlBenchConfig.DEFAULTS.commands(),
            ControlBenchConfig.DEFAULTS.recorded());
    private static Environment environment;
    private static PassThrough passThrough;
    private static String passedOn;
    private static long nextRequest = 1_000;
    private static Submitters toPassThrough;

    @BeforeAll
    static void start() throws InterruptedException {
        environment = Environment.open(CONFIG);
        passedOn = environment.topic("pass-out");
        passThrough = PassThrough.forwarding(environment, "pass", environment.topic("pass-in"), passedOn);
        toPassThrough = Submitters.to(environment, passThrough.from());
    }

    @AfterAll
    static void stop() {
        environment.close();
    }

    @Test
    void everyRequestComesBackOnceAndAgainInTheNextRound() throws InterruptedException {
        List<Lane> lanes = List.of(
                Lanes.hop(environment),
                Lanes.relay(environment),
                Lanes.passThrough(environment, passThrough, passedOn, toPassThrough, false),
                Lanes.passThrough(environment, passThrough, passedOn, toPassThrough, true));

        for (int round = 0; round < 2; round++) {
            for (Lane lane : lanes) {
                Arrivals arrivals = new Arrivals(new Arrivals.Stretch(round * 50L, 10, 50, TimeUnit.MILLISECONDS.toNanos(2)));
                try (Lane.Running running = lane.open(arrivals)) {
                    OpenLoop.run(running, arrivals);
                    arrivals.await(30_000);
                    running.settle();
                }
                assertEquals(new Arrivals.Count(50, 50, 0, 0, 0), arrivals.count(), lane.part() + ", round " + round);
                assertEquals(40, arrivals.micros().getTotalCount());
            }
        }
    }

    @Test
    void bulkRecordsPassThroughOnce() throws InterruptedException {
        Bulk.Result result = new Bulk(environment).through(passThrough, passedOn, toPassThrough, LanesTest::take, 1);

        // A request is three records.
        long requests = result.count("RequestSubmitted");
        assertEquals(3 * requests, result.events());
        assertEquals(
                Map.of("RequestSubmitted", requests, "RequestPrefilled", requests, "RequestFinished", requests), result.written());
        assertTrue(result.speed().seconds() >= 1, () -> result.speed().toString());
    }

    /** A partition that is done gets ticks while another one is not: they are no progress in what was there. */
    @Test
    void progressIsInTheRecordsThatWereThere() throws InterruptedException, ExecutionException {
        String topic = environment.topic("backlog");
        append(topic, 0);
        append(topic, 1);
        Progress present = new Backlog(environment, environment.named("backlog"), topic).present();

        append(topic, 0);
        committed(topic, 20, 0);

        assertEquals(20, present.end());
        assertEquals(10, present.done());
        committed(topic, 20, 5);
        assertEquals(15, present.done());
        committed(topic, 20, 10);
        assertEquals(20, present.done());
    }

    /** The first record alone: of two batches under way to a new partition a broker may take the second first, and then it never takes the first. */
    private static void append(String topic, int partition) {
        for (int record = 0; record < 10; record++) {
            environment.outbox().send(new ProducerRecord<>(topic, partition, new byte[] {1}, new byte[] {1}));
            if (record == 0) {
                environment.outbox().flush();
            }
        }
        environment.outbox().flush();
    }

    private static void committed(String topic, long first, long second) throws InterruptedException, ExecutionException {
        environment
                .admin()
                .alterConsumerGroupOffsets(
                        environment.named("backlog"),
                        Map.of(
                                new TopicPartition(topic, 0), new OffsetAndMetadata(first),
                                new TopicPartition(topic, 1), new OffsetAndMetadata(second)))
                .all()
                .get();
    }

    /** What a controller is compared with has the same work: batches as agents send them, the same compression, and as much time. */
    @Test
    void copiesOfEventsAreLikeThoseOfTheController() throws InterruptedException, IOException {
        RecordedLog log =
                new FullHost(environment.codec(), new FullHost.Shape("events", environment.nodes(), 2, 1_000), 1_000_000).record(100);

        try (Copies copies = new Copies(environment, environment.access().withCompression("zstd"), log)) {
            assertTrue(copies.passed(0.2).seconds() >= 0.2);
            assertTrue(copies.idle(0.5).seconds() >= 0.5);
            assertTrue(copies.relayed(0.5).seconds() >= 0.5);
        }

        Batches in = Batches.of(environment.named("copies-in"));
        List<RecordedLog.Entry> measured = log.records().subList(log.warmUp(), log.records().size());
        long bursts = measured.stream().map(RecordedLog.Entry::burst).distinct().count();
        assertEquals(Set.of(CompressionType.ZSTD), in.compressions());
        assertTrue(in.records() >= 5_000, in::toString);
        assertTrue(in.batches() >= in.records() / measured.size() * bursts, () -> in + ", bursts " + bursts + " of " + measured.size());
        assertEquals(Set.of(CompressionType.ZSTD), Batches.of(environment.named("copies-out")).compressions());
    }

    /** How a topic lies on the broker's disk, without the markers of transactions. */
    private record Batches(long batches, long records, Set<CompressionType> compressions) {
        static Batches of(String topic) throws IOException {
            long batches = 0;
            long records = 0;
            Set<CompressionType> compressions = EnumSet.noneOf(CompressionType.class);
            for (Path segment : segments(topic)) {
                FileRecords file = FileRecords.open(segment.toFile(), false);
                for (FileChannelRecordBatch batch : file.batches()) {
                    if (!batch.isControlBatch()) {
                        batches++;
                        records += batch.lastOffset() - batch.baseOffset() + 1;
                        compressions.add(batch.compressionType());
                    }
                }
                // Not close(), which would cut the file to the length of its batches.
                file.closeHandlers();
            }
            return new Batches(batches, records, compressions);
        }

        private static List<Path> segments(String topic) throws IOException {
            try (Stream<Path> files = Files.walk(environment.directory(""))) {
                return files.filter(file -> file.toString().endsWith(".log")
                                && file.getName(file.getNameCount() - 2).toString().startsWith(topic + "-"))
                        .toList();
            }
        }
    }

    private static long take(int requests) {
        nextRequest += requests;
        return nextRequest - requests;
    }
}
