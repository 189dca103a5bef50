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
import java.util.function.IntSupplier;
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
    private static final int REQUESTS = 200;
    private static final int ENOUGH = 150;

    @TempDir
    Path dir;

    private final StringWriter err = new StringWriter();

    private RedisServer redis() throws InterruptedException {
        Optional<Path> program = RedisServer.program();
        assumeTrue(program.isPresent(), "NOT RUN: needs redis-server, in Debian: apt-get install redis-server");
        return RedisServer.start(program.orElseThrow(), dir.resolve("redis"));
    }

    /** Requests go to the nodes in turn, so each needs what the other has stored; no host is full, so the store alone has it. */
    private JsonNode demo(String store, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("demo", "--seed", "6", "--format", "json", "--no-compare", "--no-dashboard",
                "--requests", String.valueOf(REQUESTS), "--host", "2000blocks", "--route", "ROUND_ROBIN", "--no-device-retention",
                "--concurrency", "4", "--decode-us-per-token", "500", "--prefill-us-per-token", "0", "--prefetch-wait-ms", "10000",
                "--store", store));
        words.addAll(List.of(more));
        StringWriter out = new StringWriter();
        CommandLine line = new CommandLine(new Main());
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        int code = Main.run(line, words, Map.of(), dir);
        assertEquals(0, code, () -> err + System.lineSeparator() + out);
        JsonNode report = new ObjectMapper().readTree(out.toString());
        assertEquals(REQUESTS, report.get("requests").asInt());
        assertEquals(0, report.get("wrong_content").asLong());
        assertTrue(report.get("operations_by_kind").path("back_up").asLong() > 0, report::toString);
        assertTrue(report.get("hits").get("store").asLong() > 0, report::toString);
        return report;
    }

    private static long reasons(JsonNode report, String kind, String reason) {
        return report.get("operation_reasons").path(kind).path(reason).asLong();
    }

    private static void await(IntSupplier objects) {
        while (objects.getAsInt() < ENOUGH) {
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

    @Test
    void agentsOnRedisInProcessesOfTheirOwn() throws Exception {
        try (RedisServer server = redis()) {
            JsonNode report = demo("redis://127.0.0.1:" + server.port() + "/0", "--processes");
            assertEquals(0, reasons(report, "back_up", "store_unavailable"), report::toString);
            assertTrue(objects(server) > ENOUGH);
        }
    }

    @Test
    void agentsOnS3() throws Exception {
        try (S3Mock server = S3Mock.start(dir.resolve("s3")); S3Client client = server.client()) {
            JsonNode report = demo(server.url(server.port(), "demo"));
            assertEquals(0, reasons(report, "prefetch", "checksum"), report::toString);
            assertTrue(objects(client).size() > ENOUGH);
        }
    }

    /** Requests go on without the store. The new process of the server has lost everything. */
    @Test
    void redisHangsIsCutOffAndIsKilledInTheMiddle() throws Exception {
        try (RedisServer server = redis(); FaultyProxy proxy = new FaultyProxy(server.port())) {
            CompletableFuture<Void> faults = CompletableFuture.runAsync(() -> {
                try {
                    await(() -> objects(server));
                    faults(proxy);
                    server.kill();
                    TimeUnit.SECONDS.sleep(1);
                    server.restart();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            JsonNode report = demo("redis://127.0.0.1:" + proxy.port() + "/0?timeout-ms=500");
            faults.get(60, TimeUnit.SECONDS);
            assertTrue(reasons(report, "back_up", "store_unavailable") + reasons(report, "prefetch", "store_unavailable") > 0, report::toString);
        }
    }

    @Test
    void s3HangsAndIsCutOffInTheMiddle() throws Exception {
        try (S3Mock server = S3Mock.start(dir.resolve("s3")); FaultyProxy proxy = new FaultyProxy(server.port()); S3Client client = server.client()) {
            CompletableFuture<Void> faults = CompletableFuture.runAsync(() -> {
                try {
                    await(() -> objects(client).size());
                    faults(proxy);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            JsonNode report = demo(server.url(proxy.port(), "demo") + "&timeout-ms=1000");
            faults.get(60, TimeUnit.SECONDS);
            assertTrue(reasons(report, "back_up", "store_unavailable") + reasons(report, "prefetch", "store_unavailable") > 0, report::toString);
        }
    }

    private static void faults(FaultyProxy proxy) throws InterruptedException {
        for (FaultyProxy.Mode mode : List.of(FaultyProxy.Mode.SILENT, FaultyProxy.Mode.DRIP, FaultyProxy.Mode.CUT)) {
            proxy.mode(mode);
            TimeUnit.MILLISECONDS.sleep(1_500);
            proxy.mode(FaultyProxy.Mode.PASS);
            TimeUnit.MILLISECONDS.sleep(1_500);
        }
    }

    /** Every object there is gets other bytes, of the same length. None is loaded, and each that is read is found wrong. */
    @Test
    void wrongBytesInRedisAreFound() throws Exception {
        try (RedisServer server = redis()) {
            CompletableFuture<Void> spoilt = CompletableFuture.runAsync(() -> {
                await(() -> objects(server));
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
            });
            JsonNode report = demo("redis://127.0.0.1:" + server.port() + "/0");
            spoilt.get(60, TimeUnit.SECONDS);
            assertTrue(reasons(report, "prefetch", "checksum") > 0, report::toString);
        }
    }

    @Test
    void wrongBytesInS3AreFound() throws Exception {
        try (S3Mock server = S3Mock.start(dir.resolve("s3")); S3Client client = server.client()) {
            CompletableFuture<Void> spoilt = CompletableFuture.runAsync(() -> {
                await(() -> objects(client).size());
                for (S3Object object : objects(client)) {
                    ResponseBytes<GetObjectResponse> held = client.getObjectAsBytes(get -> get.bucket(S3Mock.BUCKET).key(object.key()));
                    byte[] bytes = held.asByteArray();
                    bytes[bytes.length - 1] ^= 1;
                    client.putObject(put -> put.bucket(S3Mock.BUCKET).key(object.key()).metadata(held.response().metadata()),
                            RequestBody.fromBytes(bytes));
                }
            });
            JsonNode report = demo(server.url(server.port(), "demo"));
            spoilt.get(60, TimeUnit.SECONDS);
            assertTrue(reasons(report, "prefetch", "checksum") > 0, report::toString);
        }
    }
}
