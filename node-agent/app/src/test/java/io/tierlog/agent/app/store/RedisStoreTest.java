/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.memory.Checksums;
import io.tierlog.agent.app.store.SharedStore.Presence;
import io.tierlog.agent.app.store.SharedStore.Result;
import io.tierlog.ops.process.RedisServer;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

/** The contract on a real Redis, and what befalls one: slow, silent, cut off, full, evicting, killed. */
@Tag("slow")
@Timeout(120)
class RedisStoreTest extends StoreContractTest {
    /** Three chunks, the last one short. */
    private static final int LARGE = 2 * RedisObjects.CHUNK_BYTES + 1_000;

    @TempDir
    static Path directory = Path.of("");

    private static @Nullable RedisServer started;

    private final List<SharedStore> opened = new ArrayList<>();

    private static RedisServer server() {
        return Objects.requireNonNull(started);
    }

    @BeforeAll
    static void start() throws InterruptedException {
        Assumptions.assumeTrue(RedisServer.program().isPresent(), "NOT RUN: needs redis-server (apt-get install redis-server)");
        started = RedisServer.start(RedisServer.program().orElseThrow(), directory, "--maxmemory", "48mb", "--maxmemory-policy", "noeviction");
    }

    @AfterAll
    static void stop() {
        if (started != null) {
            started.close();
            started = null;
        }
    }

    @AfterEach
    void empty() {
        opened.forEach(SharedStore::close);
        try (Jedis client = new Jedis("127.0.0.1", server().port())) {
            client.configSet("maxmemory", "48mb");
            client.configSet("maxmemory-policy", "noeviction");
            client.flushAll();
        }
    }

    private SharedStore at(int port, String parameters) {
        SharedStore store = StoreLocation.parse("redis://127.0.0.1:" + port + "/0" + parameters).open(false);
        opened.add(store);
        return store;
    }

    @Override
    SharedStore store() {
        return opened.isEmpty() ? at(server().port(), "?timeout-ms=30000") : opened.getFirst();
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
    void aBlockOfSeveralChunksIsReadBackAndReplaced() {
        assertEquals(BlockStatus.ARRIVED, writeLarge(store(), 1).status());
        assertEquals(BlockStatus.ALREADY_THERE, writeLarge(store(), 1).status());
        ByteBuffer into = ByteBuffer.allocateDirect(LARGE);
        assertEquals(BlockStatus.ARRIVED, store().read(name(1), into).status());
        assertArrayEquals(bytes(large(1)), bytes(into));
        assertEquals(BlockStatus.GONE, store().delete(name(1), 1).status());
        assertEquals(2, writeLarge(store(), 1).generation());
        try (Jedis client = new Jedis("127.0.0.1", server().port())) {
            Set<String> keys = client.keys("*");
            assertEquals(1, keys.size(), "nothing staged is left: " + keys);
            assertEquals(-1, client.ttl(keys.iterator().next()), "what is published does not expire");
        }
    }

    @Test
    void aChunkThatIsWrongOrMissingIsFound() {
        for (int i = 0; i < 2; i++) {
            writeLarge(store(), i);
        }
        try (Jedis client = new Jedis("127.0.0.1", server().port())) {
            for (String key : client.keys("*")) {
                if (key.contains(name(0).key().hex())) {
                    client.hdel(key, "1");
                } else {
                    client.hset(key, "2", "wrong");
                }
            }
        }
        for (int i = 0; i < 2; i++) {
            assertEquals(OperationReason.CHECKSUM, store().read(name(i), ByteBuffer.allocateDirect(LARGE)).reason());
            assertEquals(Presence.ABSENT, store().probe(name(i)));
            assertEquals(2, writeLarge(store(), i).generation());
        }
        assertEquals(2, store().wrongObjects());
    }

    @Test
    void aFullServerRefusesWritesServesWhatItHasAndCanDelete() {
        List<Integer> arrived = new ArrayList<>();
        Result last = writeLarge(store(), 0);
        for (int i = 1; last.status() == BlockStatus.ARRIVED && i < 100; i++) {
            arrived.add(i - 1);
            last = writeLarge(store(), i);
        }
        assertEquals(OperationReason.NO_ROOM, last.reason(), last.detail());
        assertTrue(last.detail().contains("OOM"), last.detail());
        assertTrue(arrived.size() > 5, arrived.toString());
        for (int i : arrived) {
            ByteBuffer into = ByteBuffer.allocateDirect(LARGE);
            assertEquals(BlockStatus.ARRIVED, store().read(name(i), into).status());
            assertArrayEquals(bytes(large(i)), bytes(into));
        }
        try (Jedis client = new Jedis("127.0.0.1", server().port())) {
            client.configSet("maxmemory", "8mb");
        }
        for (int i : arrived) {
            assertEquals(Result.gone(1), store().delete(name(i), 1));
        }
        assertEquals(BlockStatus.ARRIVED, writeLarge(store(), 0).status());
    }

    /** Wherever a writer stops, no reader sees a part of its block, and what it has staged expires. */
    @Test
    void aPutThatIsBrokenOffLeavesNothingThatStays() throws IOException {
        int published = 0;
        try (Jedis client = new Jedis("127.0.0.1", server().port())) {
            for (int cut = 100; published == 0; cut += step(cut % RedisObjects.CHUNK_BYTES)) {
                try (FaultyProxy proxy = new FaultyProxy(server().port());
                        SharedStore far = StoreLocation.parse("redis://127.0.0.1:" + proxy.port() + "/0").open(false)) {
                    proxy.cutAfter(cut);
                    writeLarge(far, 1);
                }
                while (client.clientList().lines().count() > 1) {
                    Thread.onSpinWait();
                }
                for (String key : client.keys("*")) {
                    if (key.contains(":staged:")) {
                        assertTrue(client.pttl(key) > 0, "cut after " + cut + " bytes: " + key + " stays");
                    } else {
                        assertEquals(3 + 4, client.hlen(key), "cut after " + cut + " bytes: three chunks, version, generation, size and header");
                        published++;
                    }
                }
                client.flushAll();
            }
        }
        assertEquals(1, published);
    }

    /** Small around the ends of chunks, where commands of less than 200 bytes follow each other. */
    private static int step(int withinChunk) {
        return withinChunk < 3_000 ? 100 : Math.min(200_000, RedisObjects.CHUNK_BYTES - withinChunk);
    }

    /** With another policy than noeviction blocks are missing, whole or not at all. */
    @Test
    void anEvictingServerLosesWholeBlocks() {
        try (Jedis client = new Jedis("127.0.0.1", server().port())) {
            client.configSet("maxmemory-policy", "allkeys-lru");
        }
        int arrived = 0;
        for (int i = 0; i < 60; i++) {
            arrived += writeLarge(store(), i).status() == BlockStatus.ARRIVED ? 1 : 0;
        }
        int missing = 0;
        for (int i = 0; i < 60; i++) {
            ByteBuffer into = ByteBuffer.allocateDirect(LARGE);
            Result read = store().read(name(i), into);
            if (read.status() == BlockStatus.ARRIVED) {
                assertArrayEquals(bytes(large(i)), bytes(into));
            } else {
                assertEquals(OperationReason.NOT_FOUND, read.reason(), read.detail());
                missing++;
            }
        }
        assertEquals(60, arrived);
        assertTrue(missing > 20, "60 blocks of 2 MiB into 48 MB: " + missing + " missing");
        assertEquals(0, store().wrongObjects());
    }

    /** Where the server may evict what expires, a chunk of a block may vanish while it is put. */
    @Test
    void aBlockOfWhichAChunkIsMissingIsNotPublished() {
        try (Jedis client = new Jedis("127.0.0.1", server().port())) {
            client.hset("staged", "1", "second chunk");
            List<byte[]> keys = Stream.of("object", "staged").map(String::getBytes).toList();
            List<byte[]> values = Stream.of("", "version", "1", "128", "header", "2").map(String::getBytes).toList();
            assertEquals(-1L, client.eval(RedisObjects.PUBLISH, keys, values));
            assertEquals(Set.of(), client.keys("*"));
        }
    }

    /** The answer drips, a byte in 100 ms, for longer than any test may take: the deadline of a call is for all of it. */
    @ParameterizedTest
    @EnumSource(value = FaultyProxy.Mode.class, names = {"DRIP", "SILENT", "CUT"})
    void aCallEndsAtItsDeadlineAndTheServerIsUsedAgain(FaultyProxy.Mode mode) throws IOException {
        try (FaultyProxy proxy = new FaultyProxy(server().port())) {
            SharedStore far = at(proxy.port(), "?timeout-ms=2000");
            until(() -> writeLarge(far, 1), BlockStatus.ARRIVED, BlockStatus.ALREADY_THERE);
            proxy.mode(mode);
            Result read = far.read(name(1), ByteBuffer.allocateDirect(LARGE));
            assertEquals(OperationReason.STORE_UNAVAILABLE, read.reason(), read.detail());
            assertEquals(OperationReason.STORE_UNAVAILABLE, writeLarge(far, 2).reason());
            assertEquals(Presence.UNREACHABLE, far.probe(name(1)));
            proxy.mode(FaultyProxy.Mode.PASS);
            ByteBuffer into = ByteBuffer.allocateDirect(LARGE);
            until(() -> far.read(name(1), into), BlockStatus.ARRIVED);
            assertArrayEquals(bytes(large(1)), bytes(into));
            assertEquals(0, far.wrongObjects());
        }
    }

    @Test
    void aServerThatWasKilledIsUsedAgainWhenItIsBack() throws InterruptedException {
        SharedStore store = at(server().port(), "?timeout-ms=5000");
        write(store, 1);
        server().kill();
        assertEquals(OperationReason.STORE_UNAVAILABLE, store.read(name(1), ByteBuffer.allocateDirect(BLOCK)).reason());
        assertEquals(Presence.UNREACHABLE, store.probe(name(1)));
        server().restart();
        until(() -> write(store, 1), BlockStatus.ARRIVED);
        assertEquals(Result.arrived(crc(1), 1), store.read(name(1), ByteBuffer.allocateDirect(BLOCK)), "its memory was lost with it");
    }

    @Test
    void aWrongPasswordIsReported() throws IOException {
        Path password = java.nio.file.Files.writeString(directory.resolve("password"), "secret\n");
        SharedStore store = at(server().port(), "?user=stranger&password-file=" + password);
        Result read = store.read(name(1), ByteBuffer.allocateDirect(BLOCK));
        assertEquals(OperationReason.STORE_UNAVAILABLE, read.reason());
        assertTrue(read.detail().contains("WRONGPASS") && !read.detail().contains("secret"), read.detail());
    }

    @Test
    void databasesAndPrefixesDoNotMix() {
        write(store(), 1);
        SharedStore other = StoreLocation.parse("redis://127.0.0.1:" + server().port() + "/1").open(false);
        SharedStore prefix = StoreLocation.parse("redis://127.0.0.1:" + server().port() + "/0?prefix=b").open(false);
        opened.add(other);
        opened.add(prefix);
        assertEquals(Presence.ABSENT, other.probe(name(1)));
        assertEquals(Presence.ABSENT, prefix.probe(name(1)));
    }

    static void until(Supplier<Result> call, BlockStatus... wanted) {
        Result last = call.get();
        while (!List.of(wanted).contains(last.status())) {
            java.util.concurrent.locks.LockSupport.parkNanos(10_000_000);
            last = call.get();
        }
    }
}
