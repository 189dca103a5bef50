/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.memory.Checksums;
import io.tierlog.agent.app.store.SharedStore.Presence;
import io.tierlog.agent.app.store.SharedStore.Result;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * The contract on S3Mock for one caller at a time, and what befalls a server. S3Mock compares and sets in two steps: of puts with If-None-Match at
 * the same time several arrive. What several callers do is held by {@link S3ObjectsTest}.
 */
@Tag("slow")
@Timeout(180)
class S3StoreTest extends StoreBasicsTest {
    private static final int LARGE = 3_000_000;

    @TempDir
    static Path directory = Path.of("");

    private static @Nullable S3Mock started;
    private static int prefixes;

    private final String prefix = "p" + prefixes++;
    private final List<SharedStore> opened = new ArrayList<>();

    @BeforeAll
    static void start() throws IOException, InterruptedException {
        started = S3Mock.start(directory.resolve("s3"));
    }

    @AfterAll
    static void stop() {
        if (started != null) {
            started.close();
            started = null;
        }
    }

    @AfterEach
    void close() {
        opened.forEach(SharedStore::close);
    }

    private static S3Mock server() {
        return java.util.Objects.requireNonNull(started);
    }

    @Override
    SharedStore store() {
        return opened.isEmpty() ? at(server().port(), "&timeout-ms=60000") : opened.getFirst();
    }

    private SharedStore at(int port, String parameters) {
        SharedStore store = StoreLocation.parse(server().url(port, prefix) + parameters).open(false);
        opened.add(store);
        return store;
    }

    private static ByteBuffer large(int seed) {
        byte[] bytes = new byte[LARGE];
        new Random(seed).nextBytes(bytes);
        return ByteBuffer.allocateDirect(LARGE).put(0, bytes);
    }

    private static Result writeLarge(SharedStore store, int seed) {
        ByteBuffer bytes = large(seed);
        return store.write(name(seed), bytes, Checksums.crc32c(bytes));
    }

    @Test
    void aLargeBlockIsReadBackByAnotherProcess() {
        assertEquals(BlockStatus.ARRIVED, writeLarge(store(), 1).status());
        ByteBuffer into = ByteBuffer.allocateDirect(LARGE);
        assertEquals(BlockStatus.ARRIVED, at(server().port(), "").read(name(1), into).status());
        assertArrayEquals(bytes(large(1)), bytes(into));
    }

    /** Bytes that are wrong, too short, too many, or none at all. */
    @Test
    void wrongObjectsAreFoundCountedAndReplaced() {
        List<byte[]> wrong = List.of(new byte[ObjectHeader.BYTES + BLOCK], new byte[50], new byte[5_000], new byte[0]);
        try (S3Client client = server().client()) {
            for (int i = 0; i < wrong.size(); i++) {
                write(i);
                overwrite(client, i, wrong.get(i));
            }
        }
        for (int i = 0; i < wrong.size(); i++) {
            assertEquals(OperationReason.CHECKSUM, read(i).reason(), "object " + i);
            assertEquals(Presence.ABSENT, store().probe(name(i)));
            assertEquals(BlockStatus.ARRIVED, write(i).status());
            assertEquals(BlockStatus.ARRIVED, read(i).status());
        }
        assertEquals(wrong.size(), store().wrongObjects());
    }

    private void overwrite(S3Client client, int seed, byte[] bytes) {
        List<String> keys = client.listObjectsV2(list -> list.bucket(S3Mock.BUCKET).prefix(prefix + "/")).contents().stream()
                .map(S3Object::key).filter(key -> key.endsWith(name(seed).key().hex())).toList();
        client.putObject(put -> put.bucket(S3Mock.BUCKET).key(keys.getFirst()), RequestBody.fromBytes(bytes));
    }

    @ParameterizedTest
    @EnumSource(value = FaultyProxy.Mode.class, names = {"DRIP", "SILENT", "CUT"})
    void aCallEndsAtItsDeadlineAndTheServerIsUsedAgain(FaultyProxy.Mode mode) throws IOException {
        try (FaultyProxy proxy = new FaultyProxy(server().port())) {
            SharedStore far = at(proxy.port(), "&timeout-ms=2000");
            RedisStoreTest.until(() -> writeLarge(far, 1), BlockStatus.ARRIVED, BlockStatus.ALREADY_THERE);
            proxy.mode(mode);
            Result read = far.read(name(1), ByteBuffer.allocateDirect(LARGE));
            assertEquals(OperationReason.STORE_UNAVAILABLE, read.reason(), read.detail());
            assertEquals(OperationReason.STORE_UNAVAILABLE, writeLarge(far, 2).reason());
            assertEquals(Presence.UNREACHABLE, far.probe(name(1)));
            proxy.mode(FaultyProxy.Mode.PASS);
            ByteBuffer into = ByteBuffer.allocateDirect(LARGE);
            RedisStoreTest.until(() -> far.read(name(1), into), BlockStatus.ARRIVED);
            assertArrayEquals(bytes(large(1)), bytes(into));
            assertEquals(0, far.wrongObjects());
        }
    }

    @Test
    void aBucketThatIsMissingIsReported() {
        SharedStore store = StoreLocation.parse("s3://no-such-bucket/x?endpoint=http://127.0.0.1:" + server().port()).open(false);
        opened.add(store);
        Result read = store.read(name(1), ByteBuffer.allocateDirect(BLOCK));
        assertEquals(OperationReason.STORE_UNAVAILABLE, read.reason(), read.detail());
        assertTrue(read.detail().contains("bucket"), read.detail());
        assertEquals(OperationReason.STORE_UNAVAILABLE, write(store, 1).reason());
    }
}
