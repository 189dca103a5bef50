/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory;

import static io.tierlog.controller.directory.PlacementLog.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.tierlog.controller.core.feed.PlacementFeed.Publication;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.api.StreamClient;
import io.tierlog.controller.directory.index.IndexLimits;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.query.KeyAnswers;
import io.tierlog.controller.directory.query.KeyQuery;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.controller.directory.streams.DirectoryLimits;
import io.tierlog.controller.directory.streams.DirectoryStreams;
import io.tierlog.controller.streams.DamagedState;
import io.tierlog.controller.streams.FreeSpace;
import io.tierlog.directory.v1.BatchExistRequest;
import io.tierlog.directory.v1.DirectoryGrpc;
import io.tierlog.directory.v1.StreamRequest;
import io.tierlog.directory.v1.StreamResponse;
import io.tierlog.events.Partitions;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.Tier;
import io.tierlog.threads.LoggedLines;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.streams.errors.MissingSourceTopicException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Directories on a real broker: one, and two that share the partitions, of which one ends. */
@Tag("slow")
class TwoInstancesTest {
    private static final String NAMESPACE = "model/a";
    private static final int BLOCKS = 500;
    private static final int PARTITIONS = 4;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path directory;

    @SuppressWarnings("NullAway.Init") // JUnit calls startBroker() first.
    private static EmbeddedKafka broker;

    @SuppressWarnings("NullAway.Init") // JUnit calls open() first.
    private PlacementLog log;

    @BeforeAll
    static void startBroker() {
        broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
    }

    @AfterAll
    static void stopBroker() {
        broker.close();
    }

    @BeforeEach
    void open() {
        log = new PlacementLog(broker, PARTITIONS);
    }

    @AfterEach
    void close() {
        log.close();
    }

    private DirectoryConfig config(String name) {
        return DirectoryConfig.of(log.access, log.topics, directory.resolve(log.topics.prefix() + name))
                .withLimits(DirectoryLimits.DEFAULTS.withTimes(100, 3_000, 200, 6_000));
    }

    private DirectoryApp start(DirectoryConfig config) throws InterruptedException {
        DirectoryApp app = DirectoryApp.start(config);
        assertTrue(app.awaitRunning(Duration.ofSeconds(60)), () -> app.streams().state());
        return app;
    }

    /** Even numbers serve on the host of a. */
    private void blocks() {
        log.begin();
        IntStream.range(0, BLOCKS).filter(i -> i % 2 == 0).forEach(i -> log.put(NAMESPACE, i, "node/a", Tier.HOST, 1));
        log.commit();
    }

    /** RocksDB finds damage when it opens the files of one partition, and when the index is built from the rows of the others. */
    @Test
    void damagedStateIsSetAsideAndRestored() throws Exception {
        blocks();
        DirectoryConfig config = config("damaged");
        try (DirectoryApp app = start(config)) {
            PlacementLog.await("all blocks", () -> app.streams().blocks() == BLOCKS / 2);
        }
        for (int partition = 0; partition < PARTITIONS; partition++) {
            String task = "0_" + partition;
            try (Stream<Path> files = Files.walk(config.stateDir())) {
                Path file = files.filter(one -> one.toString().contains("/" + task + "/"))
                        .filter(one -> one.toString().endsWith(task.equals("0_0") ? "/CURRENT" : ".sst"))
                        .max(Comparator.comparingLong(one -> one.toFile().length())).orElseThrow();
                byte[] bytes = Files.readAllBytes(file);
                bytes[0] ^= 0x55;
                Files.write(file, bytes);
            }
        }
        try (LoggedLines lines = new LoggedLines(DamagedState.class);
                DirectoryApp app = start(config)) {
            PlacementLog.await("all blocks again", () -> app.streams().blocks() == BLOCKS / 2);
            assertTrue(app.streams().report().body().path("detail").asText().contains("damaged"), () -> app.streams().report().toString());
            assertDegraded(app, "state");
            for (int partition = 0; partition < PARTITIONS; partition++) {
                assertEquals(1, lines.with("the state of task 0_" + partition + " was damaged and is restored"), lines::toString);
            }
        }
        try (Stream<Path> kept = Files.list(config.stateDir().resolve("corrupt-state"))) {
            assertEquals(PARTITIONS, kept.count());
        }
    }

    /** At /health and as a metric. */
    private static void assertDegraded(DirectoryApp app, String part) {
        String health = app.streams().report().body().toString();
        assertTrue(health.contains("{\"part\":\"" + part + "\",\"level\":\"DEGRADED\""), health);
        assertEquals(1, level(app, part));
    }

    private static double level(DirectoryApp app, String part) {
        return app.streams().metrics().scrape(name -> name.equals("tierlog_health_level")).stream().map(GaugeSnapshot.class::cast)
                .flatMap(gauge -> gauge.getDataPoints().stream()).filter(point -> part.equals(point.getLabels().get("part")))
                .mapToDouble(GaugeSnapshot.GaugeDataPointSnapshot::getValue).sum();
    }

    /** A directory where the probe must be makes every write of it fail, also for a user who may write everywhere. */
    @Test
    void aStateDirectoryThatCannotBeWrittenIsNamed() throws Exception {
        DirectoryConfig config = config("unwritable");
        try (LoggedLines lines = new LoggedLines(FreeSpace.class);
                DirectoryApp app = start(config)) {
            assertEquals(0, level(app, "space"));
            Path probe = config.stateDir().resolve(".write-probe");
            await("the probe is in the way", () -> probe.toFile().mkdir());
            await("it is named", () -> level(app, "space") > 0);
            assertDegraded(app, "space");
            assertEquals(1, lines.with(config.stateDir() + " cannot be written"), lines::toString);
            Files.delete(probe);
            await("it is well again", () -> level(app, "space") == 0);
            assertEquals(Presence.NOT_FOUND, of(app, 1), "it answers");
        }
    }

    /** Answers grow old at first; Streams ends after a minute. A start without the topic is refused, as for every part. */
    @Test
    void aMissingTopicIsNamedAndEndsIt() throws Exception {
        blocks();
        try (LoggedLines ends = new LoggedLines("io.tierlog.controller.directory.streams.LogEnds");
                LoggedLines lines = new LoggedLines(DirectoryStreams.class);
                DirectoryApp app = start(config("missing"));
                Admin admin = Admin.create(log.access.client(Map.of()))) {
            admin.deleteTopics(List.of(log.topics.placements())).all().get(30, TimeUnit.SECONDS);
            await("/health names what does not answer", () -> level(app, "follower") > 0);
            assertDegraded(app, "follower");
            assertTrue(ends.with("the end of " + log.topics.placements() + " cannot be looked at: ") >= 1, ends::toString);
            Throwable end = app.ended().get(180, TimeUnit.SECONDS).orElseThrow();
            assertInstanceOf(MissingSourceTopicException.class, end);
            await("/health names the end", () -> level(app, "streams") > 1);
            assertEquals(1, lines.with("the directory stops: " + end.getMessage()), lines::toString);
        }
    }

    private static KeyAnswers ask(DirectoryApp app, boolean placements) {
        ByteArrayOutputStream keys = new ByteArrayOutputStream();
        IntStream.range(0, BLOCKS).forEach(i -> keys.writeBytes(PlacementLog.key(i).unshared()));
        return app.fanout().ask(new KeyQuery(Namespaces.digest(NAMESPACE), keys.toByteArray(), 16, placements));
    }

    /** Whether every key, asked for by itself, is answered as the log has it in one stream to this instance. */
    private static boolean streamed(DirectoryApp app) throws Exception {
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", app.grpcPort()).usePlaintext().build();
        try {
            StreamClient stream = new StreamClient(DirectoryGrpc.newStub(channel), true);
            IntStream.range(0, BLOCKS).forEach(i -> stream.ask(StreamRequest.newBuilder()
                    .setExist(BatchExistRequest.newBuilder()
                            .setNamespace(NAMESPACE)
                            .setKeyBytes(16)
                            .setPackedKeys(ByteString.copyFrom(PlacementLog.key(i).toArray())))
                    .build()));
            List<StreamResponse> answers = stream.end();
            return answers.size() == BLOCKS && IntStream.range(0, BLOCKS)
                    .allMatch(i -> answers.get(i).getExist().getAnswers().byteAt(0) == (i % 2 == 0 ? Presence.FOUND : Presence.NOT_FOUND).code());
        } finally {
            channel.shutdownNow();
        }
    }

    private static Presence of(DirectoryApp app, int number) {
        return app.fanout().ask(new KeyQuery(Namespaces.digest(NAMESPACE), PlacementLog.key(number).toArray(), 16, false)).presence(0);
    }

    /** Whether every key is answered as the log has it. */
    private static boolean right(KeyAnswers answers) {
        return IntStream.range(0, BLOCKS).allMatch(i -> answers.presence(i) == (i % 2 == 0 ? Presence.FOUND : Presence.NOT_FOUND));
    }

    /** Whether no key is answered with what is not so. */
    private static boolean honest(KeyAnswers answers) {
        return IntStream.range(0, BLOCKS)
                .allMatch(i -> answers.presence(i) == Presence.UNKNOWN || answers.presence(i) == (i % 2 == 0 ? Presence.FOUND : Presence.NOT_FOUND));
    }

    /** Behind is 0 also where nothing is known yet: one answer is held against all of it. */
    private static boolean isFresh(KeyAnswers answers) {
        return right(answers) && answers.freshness().behindRecords() == 0 && !answers.freshness().stale();
    }

    @Test
    void answersSayHowOldTheyAreAndOpenTransactionsAreNotSeen() throws Exception {
        blocks();
        try (DirectoryApp app = start(config("a"))) {
            await("the blocks", () -> right(ask(app, false)));
            AtomicReference<KeyAnswers> last = new AtomicReference<>(ask(app, true));
            await("the end of the log, markers of transactions and all", () -> isFresh(last.updateAndGet(_ -> ask(app, true))));
            KeyAnswers known = last.get();
            assertTrue(System.currentTimeMillis() - known.freshness().asOfMs() < 3_000, () -> known.freshness().toString());
            assertEquals("node/a/HOST", known.found(0).placements().getFirst().location().toString());

            log.begin().put(NAMESPACE, 1, "node/a", Tier.HOST, 1).put(NAMESPACE, 0, "node/a", Tier.HOST, 0);
            assertEquals(Presence.FOUND, of(app, 0));
            assertEquals(Presence.NOT_FOUND, of(app, 1));
            log.abort();
            log.begin().put(NAMESPACE, 3, "node/a", Tier.HOST, 1).put(NAMESPACE, 2, "node/a", Tier.HOST, 0).commit();
            await("what was committed", () -> of(app, 3) == Presence.FOUND && of(app, 2) == Presence.NOT_FOUND);
            assertEquals(Presence.NOT_FOUND, of(app, 1), "what was aborted");
            assertEquals(Presence.FOUND, of(app, 0), "what was aborted");
        }
        // From the store: nothing new comes.
        try (DirectoryApp app = start(config("a"))) {
            await("the blocks after a restart", () -> of(app, 4) == Presence.FOUND);
            assertEquals(Presence.FOUND, of(app, 3));
            assertEquals(Presence.NOT_FOUND, of(app, 2));
            assertEquals(Presence.NOT_FOUND, of(app, 1));
            assertEquals(Presence.FOUND, of(app, 0));
        }
    }

    @Test
    void everyKeyIsAnsweredFromEitherAndGoesOnBeingWhenOneEnds() throws Exception {
        blocks();
        DirectoryConfig second = config("b");
        try (DirectoryApp one = start(config("a"))) {
            DirectoryApp other = start(second);
            try {
                await("a share for each", () -> one.streams().indexes() == PARTITIONS / 2 && other.streams().indexes() == PARTITIONS / 2);
                for (DirectoryApp app : List.of(one, other)) {
                    await("all keys, also those of the other instance", () -> right(ask(app, false)));
                    await("their places, at the end of the log", () -> isFresh(ask(app, true)));
                }
                await("standbys", () -> standbysAreThere(one) && standbysAreThere(other));
                for (DirectoryApp app : List.of(one, other)) {
                    assertTrue(streamed(app), "a stream has the keys of the other instance too");
                }
            } finally {
                other.close();
            }
            // Answers while partitions move are right, or UNKNOWN; answers of a standby are stale.
            KeyAnswers first = ask(one, false);
            assertTrue(honest(first));
            assertTrue(IntStream.range(0, BLOCKS).anyMatch(i -> first.presence(i) == Presence.FOUND));
            await("all partitions", () -> {
                KeyAnswers now = ask(one, true);
                assertTrue(honest(now));
                return one.streams().indexes() == PARTITIONS && right(now) && !now.freshness().stale();
            });
            log.begin().put(NAMESPACE, 1, "node/b", Tier.DISK, 1).commit();
            await("what is new after the take-over", () -> of(one, 1) == Presence.FOUND);
        }
    }

    /** Whether every partition that this instance has no index of can be answered from its standby. */
    private static boolean standbysAreThere(DirectoryApp app) {
        byte[] none = new byte[16];
        return IntStream.range(0, PARTITIONS).allMatch(partition -> app.fanout()
                .askHere(partition, new KeyQuery(Namespaces.digest(NAMESPACE), none, 16, false), true)
                .isPresent());
    }

    @Test
    void aStandbyAnswersRightAndSaysThatItIsOne() throws Exception {
        blocks();
        try (DirectoryApp one = start(config("a"));
                DirectoryApp other = start(config("b"))) {
            await("a share for each", () -> one.streams().indexes() == PARTITIONS / 2 && other.streams().indexes() == PARTITIONS / 2);
            await("standbys", () -> standbysAreThere(one));
            await("their content", () -> IntStream.range(0, BLOCKS).allMatch(i -> {
                KeyQuery question = new KeyQuery(Namespaces.digest(NAMESPACE), PlacementLog.key(i).toArray(), 16, true);
                KeyAnswers answers = one.fanout().askHere(partition(i), question, true).orElseThrow();
                boolean index = one.fanout().askHere(partition(i), question, false).isPresent();
                assertTrue(index || answers.freshness().stale(), "answers of a standby are stale");
                return answers.presence(0) == (i % 2 == 0 ? Presence.FOUND : Presence.NOT_FOUND);
            }));
        }
    }

    private static int partition(int number) {
        byte[] both = new byte[32];
        System.arraycopy(Namespaces.digest(NAMESPACE).unshared(), 0, both, 0, 16);
        System.arraycopy(PlacementLog.key(number).unshared(), 0, both, 16, 16);
        return Partitions.ofKey(both, PARTITIONS);
    }

    @Test
    void whatCannotBeReadIsCountedAndItsBlockIsUnknown() throws Exception {
        blocks();
        Publication about = new Publication(Namespaces.digest(NAMESPACE), PlacementLog.key(1), "node/a/HOST", null);
        log.begin().raw(about, new byte[] {9, 9, 9, 9, 9, 9, 9}).commit();
        try (LoggedLines lines = new LoggedLines("io.tierlog.controller.directory.streams.IndexProcessor");
                DirectoryApp app = start(config("a"))) {
            await("the blocks", () -> of(app, 0) == Presence.FOUND && of(app, 1) == Presence.UNKNOWN);
            assertEquals(Presence.NOT_FOUND, of(app, 3));
            // A value about another block than its key.
            Publication other = new Publication(Namespaces.digest(NAMESPACE), PlacementLog.key(5), "node/a/HOST", null);
            byte[] value = log.encoded(NAMESPACE, 7);
            log.begin().raw(other, value).commit();
            await("the lie", () -> of(app, 5) == Presence.UNKNOWN);
            assertEquals(Presence.NOT_FOUND, of(app, 7));
            log.begin().put(NAMESPACE, 1, "node/a", Tier.HOST, 1).put(NAMESPACE, 5, "node/a", Tier.HOST, 0).commit();
            await("the next records", () -> of(app, 1) == Presence.FOUND && of(app, 5) == Presence.NOT_FOUND);
            assertTrue(app.streams().report().body().path("unreadable").asLong() >= 2);
            assertDegraded(app, "records");
            assertTrue(lines.with("cannot be read: ") >= 2, lines::toString);
        }
    }

    /** Valid records that the controller did not write: from an agent; and in its name, with a number far ahead, which its next record shows. */
    @Test
    void whatNoControllerWroteIsNamed() throws Exception {
        blocks();
        try (DirectoryApp app = start(config("a"))) {
            await("the blocks", () -> of(app, 0) == Presence.FOUND);
            assertFalse(app.streams().report().body().toString().contains("DEGRADED"), () -> "" + app.streams().report().body());
            log.begin().forged(NAMESPACE, 61, "node/a", "agent/a/1", 2).commit();
            await("it is not believed", () -> of(app, 61) == Presence.UNKNOWN);
            log.begin().forged(NAMESPACE, 62, "node/a", "controller/0", 900).commit();
            await("it is believed as yet", () -> of(app, 62) == Presence.FOUND);
            log.begin().forged(NAMESPACE, 62, "node/a", "controller/0", 3).commit();
            assertDegraded(app, "records");
            await("and named", () -> app.streams().report().body().toString().contains("decision 3 about node/a comes after decision 900"));
            assertTrue(app.streams().report().working(), "degraded, and it answers");
        }
    }

    @Test
    void aFullPartitionAnswersUnknownAndHealthSaysSo() throws Exception {
        blocks();
        DirectoryLimits tight = DirectoryLimits.DEFAULTS.withTimes(100, 3_000, 200, 6_000).withIndex(new IndexLimits(20, 20, 9, 9));
        try (DirectoryApp app = start(config("a").withLimits(tight))) {
            await("the bound", () -> app.streams().state().equals("FULL"));
            await("unknown everywhere", () -> IntStream.range(0, BLOCKS).allMatch(i -> of(app, i) == Presence.UNKNOWN));
            assertFalse(app.streams().report().working());
            assertTrue(app.streams().report().body().path("detail").asText().contains("answers UNKNOWN: the index holds 20"));
        }
    }
}
