/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.agent.app.store.FaultyProxy;
import io.tierlog.agent.app.store.S3Mock;
import io.tierlog.ops.process.RedisServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import redis.clients.jedis.Jedis;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Two nodes with a store in Redis and in S3, whole: write-back, backup, prefetch of what the other node has computed, every loaded byte compared. In
 * the middle of it the server hangs, is cut off, is killed, or has wrong bytes.
 */
@Tag("slow")
@Timeout(400)
class StoresEndToEndTest {
    private static final int REQUESTS = 70;
    private static final int ENOUGH = 50;
    /** Of a run whose store fails in the middle, and the objects with which the faults begin: the rest meets them. */
    private static final int MANY = 200;
    private static final int FIRST = 20;
    /** Of a run that finds no right bytes. */
    private static final int FEW = 40;

    @TempDir
    Path dir;

    private final StringWriter err = new StringWriter();
    private volatile boolean over;

    private RedisServer redis() throws InterruptedException {
        Optional<Path> program = RedisServer.program();
        assumeTrue(program.isPresent(), "NOT RUN: needs redis-server, in Debian: apt-get install redis-server");
        return RedisServer.start(program.orElseThrow(), dir.resolve("redis"));
    }

    /** Requests go to the nodes in turn, so each needs what the other has stored; no host is full, so the store alone has it. */
    private JsonNode demo(int requests, String store, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("demo", "--seed", "6", "--format", "json", "--no-compare", "--no-dashboard",
                "--requests", String.valueOf(requests), "--host", "2000blocks", "--route", "ROUND_ROBIN", "--no-device-retention",
                "--concurrency", "4", "--decode-us-per-token", "500", "--prefill-us-per-token", "0", "--prefetch-wait-ms", "10000",
                "--store", store));
        words.addAll(List.of(more));
        StringWriter out = new StringWriter();
        CommandLine line = new CommandLine(new Main());
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        int code;
        try {
            code = Main.run(line, words, Map.of(), dir);
        } finally {
            over = true;
        }
        assertEquals(0, code, () -> err + System.lineSeparator() + out);
        JsonNode report = new ObjectMapper().readTree(out.toString());
        assertEquals(requests, report.get("requests").asInt());
        assertEquals(0, report.get("wrong_content").asLong());
        assertTrue(report.get("operations_by_kind").path("back_up").asLong() > 0, report::toString);
        return report;
    }

    private static long reasons(JsonNode report, String kind, String reason) {
        return report.get("operation_reasons").path(kind).path(reason).asLong();
    }

    /** Waits for a condition, or for the end of the run, after which nothing calls the store. */
    private void await(BooleanSupplier condition) {
        while (!over && !condition.getAsBoolean()) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    private static int objects(RedisServer server) {
        try (Jedis client = new Jedis("127.0.0.1", server.port())) {
            return (int) client.dbSize();
        }
    }

    private static List<S3Object> objects(S3Client client) {
        return client.listObjectsV2Paginator(list -> list.bucket(S3Mock.BUCKET)).contents().stream().toList();
    }

    /** The second run finds other bytes of the same length in every object. None is loaded, and each that is read is found wrong. */
    @Test
    void agentsOnRedisInProcessesOfTheirOwnFindWrongBytes() throws Exception {
        try (RedisServer server = redis()) {
            String store = "redis://127.0.0.1:" + server.port() + "/0";
            JsonNode report = demo(REQUESTS, store, "--processes");
            assertEquals(0, reasons(report, "back_up", "store_unavailable"), report::toString);
            assertEquals(0, reasons(report, "prefetch", "checksum"), report::toString);
            assertTrue(report.get("hits").get("store").asLong() > 0, report::toString);
            assertTrue(objects(server) > ENOUGH);
            try (Jedis client = new Jedis("127.0.0.1", server.port())) {
                for (byte[] key : client.keys("*".getBytes(StandardCharsets.UTF_8))) {
                    client.hgetAll(key).forEach((field, value) -> {
                        if (value.length > 1_000) {
                            value[value.length / 2] ^= 1;
                            client.hset(key, field, value);
                        }
                    });
                }
            }
            JsonNode spoilt = demo(FEW, store);
            assertTrue(reasons(spoilt, "prefetch", "checksum") > 0, spoilt::toString);
        }
    }

    /** As with Redis. */
    @Test
    void agentsOnS3FindWrongBytes() throws Exception {
        try (S3Mock server = S3Mock.start(dir.resolve("s3")); S3Client client = server.client()) {
            String store = server.url(server.port(), "demo");
            JsonNode report = demo(REQUESTS, store);
            assertEquals(0, reasons(report, "prefetch", "checksum"), report::toString);
            assertTrue(report.get("hits").get("store").asLong() > 0, report::toString);
            assertTrue(objects(client).size() > ENOUGH);
            for (S3Object object : objects(client)) {
                ResponseBytes<GetObjectResponse> held = client.getObjectAsBytes(get -> get.bucket(S3Mock.BUCKET).key(object.key()));
                byte[] bytes = held.asByteArray();
                bytes[bytes.length - 1] ^= 1;
                client.putObject(put -> put.bucket(S3Mock.BUCKET).key(object.key()).metadata(held.response().metadata()),
                        RequestBody.fromBytes(bytes));
            }
            JsonNode spoilt = demo(FEW, store);
            assertTrue(reasons(spoilt, "prefetch", "checksum") > 0, spoilt::toString);
        }
    }

    /** Requests go on without the store. The new process of the server has lost everything. */
    @Test
    void redisHangsIsCutOffAndIsKilledInTheMiddle() throws Exception {
        try (RedisServer server = redis(); FaultyProxy proxy = new FaultyProxy(server.port())) {
            CompletableFuture<Void> faults = CompletableFuture.runAsync(() -> {
                try {
                    await(() -> objects(server) >= FIRST);
                    faults(proxy);
                    int before = proxy.broken();
                    server.kill();
                    await(() -> proxy.broken() > before);
                    server.restart();
                    await(() -> objects(server) > 0);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            JsonNode report = demo(MANY, "redis://127.0.0.1:" + proxy.port() + "/0?timeout-ms=500");
            faults.get(60, TimeUnit.SECONDS);
            assertTrue(proxy.broken() > 1, "the faults began too late");
            assertTrue(reasons(report, "back_up", "store_unavailable") + reasons(report, "prefetch", "store_unavailable") > 0, report::toString);
        }
    }

    @Test
    void s3HangsAndIsCutOffInTheMiddle() throws Exception {
        try (S3Mock server = S3Mock.start(dir.resolve("s3")); FaultyProxy proxy = new FaultyProxy(server.port()); S3Client client = server.client()) {
            CompletableFuture<Void> faults = CompletableFuture.runAsync(() -> {
                await(() -> objects(client).size() >= FIRST);
                faults(proxy);
            });
            JsonNode report = demo(MANY, server.url(proxy.port(), "demo") + "&timeout-ms=1000");
            faults.get(60, TimeUnit.SECONDS);
            assertTrue(proxy.broken() > 1, "the faults began too late");
            assertTrue(reasons(report, "back_up", "store_unavailable") + reasons(report, "prefetch", "store_unavailable") > 0, report::toString);
        }
    }

    /** Each fault lasts until a call has met it, and each pause until bytes pass. */
    private void faults(FaultyProxy proxy) {
        for (FaultyProxy.Mode mode : List.of(FaultyProxy.Mode.SILENT, FaultyProxy.Mode.DRIP, FaultyProxy.Mode.CUT)) {
            int before = proxy.broken();
            proxy.mode(mode);
            await(() -> proxy.broken() > before);
            long passed = proxy.passed();
            proxy.mode(FaultyProxy.Mode.PASS);
            await(() -> proxy.passed() > passed);
        }
    }
}
