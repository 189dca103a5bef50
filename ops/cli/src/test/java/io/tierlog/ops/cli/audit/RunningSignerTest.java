/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.http.Endpoint;
import io.tierlog.events.Closers;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.heads.HeadKeys;
import io.tierlog.ops.audit.heads.HeadSigner;
import io.tierlog.ops.audit.heads.SigningKey;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.tls.Tls;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a signer says of itself: while it signs, and when another one has taken over. */
class RunningSignerTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private HeadSigner.Config config(KafkaAccess access) throws Exception {
        SigningKey.Pair pair = SigningKey.create();
        Path file = Files.createFile(directory.resolve("key"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, pair.privateKey());
        HeadKeys keys = HeadKeys.read(Files.writeString(directory.resolve("public"), pair.publicKey()));
        return new HeadSigner.Config(access, Topics.DEFAULT, new Codec(Schemas.bundled()), keys, SigningKey.read(file, keys), Duration.ofMillis(100));
    }

    private static void write(KafkaAccess access) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(access.producer(Map.of()), new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(Topics.DEFAULT.events(), 0, null, new byte[] {1})).get(60, TimeUnit.SECONDS);
        }
    }

    private static void awaitPage(HttpClient http, RunningSigner signer, String page, int status, String text) throws Exception {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (true) {
            HttpResponse<String> answer = http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + signer.statusPort() + page)).build(),
                    BodyHandlers.ofString());
            if (answer.statusCode() == status && answer.body().contains(text)) {
                return;
            }
            assertTrue(System.nanoTime() < deadlineNs, answer::body);
            LockSupport.parkNanos(20_000_000);
        }
    }

    @Test
    void itsPagesTellWhetherItSigns() throws Exception {
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("broker")).withPort(0));
                HttpClient http = HttpClient.newHttpClient()) {
            KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
            try (TopicAdmin admin = new TopicAdmin(access)) {
                admin.create(Topics.DEFAULT, 1, 1);
            }
            HeadSigner.Config config = config(access);
            AtomicBoolean closed = new AtomicBoolean();
            Closers closers = new Closers();
            closers.add("the client of a registry", () -> closed.set(true));
            try (RunningSigner signer = RunningSigner.start(config, Optional.of(Endpoint.parse("127.0.0.1:0")), Tls.NONE, closers)) {
                write(access);
                awaitPage(http, signer, "/metrics", 200, "tierlog_heads_signed_total 1.0");
                awaitPage(http, signer, "/metrics", 200, "tierlog_heads_last_seconds 1.");
                awaitPage(http, signer, "/health", 200, "\"lastHead\":1");
                try (HeadSigner other = HeadSigner.start(config)) {
                    while (!signer.signer().ended().isDone()) {
                        write(access);
                    }
                    awaitPage(http, signer, "/health", 503, "another signer of this log has begun");
                    assertEquals(false, other.ended().isDone());
                }
                assertFalse(closed.get());
            }
            assertTrue(closed.get());
        }
    }
}
