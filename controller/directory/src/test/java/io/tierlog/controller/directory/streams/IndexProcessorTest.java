/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.index.IndexLimits;
import io.tierlog.controller.directory.index.PlacementIndex;
import io.tierlog.controller.directory.index.PlacementIndex.Batch;
import io.tierlog.controller.directory.probe.ProbeCounts;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.directory.Placement;
import io.tierlog.schemas.directory.Published;
import io.tierlog.threads.LoggedLines;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A task that Streams begins a second time, as after a transaction that failed, without an end of the first. */
class IndexProcessorTest {
    private static final int PARTITION = 1;
    private static final String NAMESPACE = "m/a";
    private static final String OWNER = "node/a";

    private final Codec codec = new Codec(Schemas.bundled());
    private final LocalShards copies = new LocalShards(2);
    private final DirectoryMetrics metrics = new DirectoryMetrics(copies, new ProbeCounts());
    private final DirectoryHealth health = new DirectoryHealth(copies, metrics);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    @SuppressWarnings("NullAway.Init") // Set before each test.
    private MockProcessorContext<Void, Void> context;

    @BeforeEach
    void task() {
        context = new MockProcessorContext<>(new Properties(), new TaskId(0, PARTITION), directory.toFile());
        KeyValueStore<byte[], byte[]> store = Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore(DirectoryTopology.STORE), Serdes.ByteArray(), Serdes.ByteArray())
                .withLoggingDisabled().withCachingDisabled().build();
        store.init(context.getStateStoreContext(), store);
        context.addStateStore(store);
    }

    private IndexProcessor processor(IndexLimits limits) {
        PlacementDecoder decoder =
                new PlacementDecoder(codec.reader(Published.class), health, Topics.DEFAULT.placements(), Optional.empty());
        return new IndexProcessor(new IndexProcessor.Shared(decoder, copies, limits, metrics, health));
    }

    private static Bytes key(int number) {
        return Bytes.ofHex("%032x".formatted(number));
    }

    /** A copy of block {@code number} on the host of the owner, by the owner's decision {@code sequence}. */
    private Record<byte[], byte[]> copy(int number, long sequence) {
        Envelope envelope = new Envelope(OWNER, "controller/0", 1, sequence, 0, 1_000, null, null, null);
        Placement placement =
                new Placement(envelope, NAMESPACE, new Block(number, key(number), Bytes.EMPTY), OWNER, Tier.HOST, 1, 4, 5, 6);
        ByteArrayOutputStream named = new ByteArrayOutputStream();
        named.writeBytes(Namespaces.digest(NAMESPACE).unshared());
        named.writeBytes(key(number).unshared());
        named.writeBytes((OWNER + "/" + Tier.HOST).getBytes(StandardCharsets.UTF_8));
        return new Record<>(named.toByteArray(), codec.encode(Topics.DEFAULT.placements(), placement), 1_000);
    }

    private PlacementIndex index() {
        return copies.index(PARTITION).orElseThrow();
    }

    private static boolean answers(PlacementIndex index) {
        return index.exist(new Batch(Namespaces.digest(NAMESPACE), new byte[16], 16, new int[1], 0, 1), new byte[1]);
    }

    /** The index of before answers nothing more, and that of now has what the store has. */
    @Test
    void theIndexOfTheTaskBeforeIsClosed() {
        IndexProcessor processor = processor(IndexLimits.DEFAULTS);
        processor.init(context);
        processor.process(copy(1, 5));
        PlacementIndex before = index();
        processor.init(context);
        assertNotSame(before, index());
        assertFalse(answers(before));
        assertTrue(answers(index()));
        assertEquals(1, index().size().blocks());
        processor.close();
        assertEquals(Optional.empty(), copies.index(PARTITION));
    }

    /** Decision 5 after decision 6 is foreign. After a new start the records since the last commit come again, and are not. */
    @Test
    void recordsThatComeAgainAreNotForeign() {
        IndexProcessor processor = processor(IndexLimits.DEFAULTS);
        processor.init(context);
        processor.process(copy(1, 5));
        processor.process(copy(2, 6));
        processor.init(context);
        processor.process(copy(1, 5));
        processor.process(copy(2, 6));
        assertEquals(0, metrics.outOfOrder());
        processor.process(copy(1, 5));
        assertEquals(1, metrics.outOfOrder());
        processor.close();
    }

    /** One block is all that the index may hold: after each start it says once that it is full. */
    @Test
    void eachTaskSaysThatItIsFull() {
        IndexProcessor processor = processor(new IndexLimits(1, 1, 1, 1));
        try (LoggedLines lines = new LoggedLines(IndexProcessor.class)) {
            processor.init(context);
            processor.process(copy(1, 5));
            processor.process(copy(2, 6));
            processor.process(copy(3, 7));
            assertEquals(1, lines.with("answers UNKNOWN from now on"));
            processor.init(context);
            assertEquals(2, lines.with("answers UNKNOWN from now on"));
        }
        processor.close();
    }
}
