/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.tierlog.agent.app.AgentApp;
import io.tierlog.agent.app.AgentConfig;
import io.tierlog.agent.app.AgentOptions;
import io.tierlog.agent.app.TestEngine;
import io.tierlog.agent.app.engine.Layouts;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.controller.streams.ControllerApp;
import io.tierlog.controller.streams.ControllerConfig;
import io.tierlog.engine.v1.BlockPage;
import io.tierlog.engine.v1.FinishRequest;
import io.tierlog.engine.v1.LoadRequest;
import io.tierlog.engine.v1.Notice;
import io.tierlog.engine.v1.Offer;
import io.tierlog.engine.v1.PrefilledRequest;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.engine.v1.SealedRequest;
import io.tierlog.engine.v1.SubmitReply;
import io.tierlog.engine.v1.SubmitRequest;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.cli.LogFacts;
import io.tierlog.ops.cli.Main;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.decision.RequestAdmitted;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * A prompt of 1,048,576 tokens, 16 a block: 65,536 blocks, with keys of 32 bytes. A broker, a controller and an agent, and an engine that compares
 * every byte. Blocks have 256 bytes.
 */
@Tag("slow")
@Timeout(240)
class LongPromptTest {
    private static final int BLOCKS = 65_536;
    private static final int BLOCK_BYTES = 256;
    private static final int BLOCK_TOKENS = 16;
    private static final int SEALED_AT_ONCE = 8_192;
    private static final int KAFKA_BYTES = 1 << 20;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    Path directory;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    private <T extends AutoCloseable> T own(T part) {
        opened.push(part);
        return part;
    }

    @AfterEach
    void close() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }

    /** With what Kafka has by default it is taken whole, and no record is longer than 1 MiB. */
    @Test
    void allOfItIsWrittenBackAndHit() throws Exception {
        int longest = serve(cluster(), Map.of(), BLOCKS);
        assertTrue(longest > 500_000 && longest < KAFKA_BYTES, "longest record: " + longest);
    }

    /** An agent that takes 10,000 blocks: they are written back and hit, and the pages of the others come free. */
    @Test
    void whatFitsIsWrittenBackAndHit() throws Exception {
        serve(cluster(), Map.of(AgentOptions.PROMPT_BLOCKS, 10_000), 10_000);
    }

    private KafkaAccess cluster() {
        EmbeddedKafka broker = own(EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("broker"))));
        KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
        try (TopicAdmin admin = new TopicAdmin(access)) {
            admin.create(Topics.DEFAULT, 1, 1);
        }
        own(ControllerApp.start(ControllerConfig.of(access, directory.resolve("controller"))));
        return access;
    }

    /** Serves the prompt twice and returns the length of the longest event, in bytes. */
    private int serve(KafkaAccess access, Map<String, ?> more, int taken) throws Exception {
        Map<String, Object> options = new HashMap<>(Map.of(
                AgentOptions.HOST, "80000blocks", AgentOptions.BYTES_PER_BLOCK, BLOCK_BYTES + "B", AgentOptions.BLOCK_TOKENS, BLOCK_TOKENS,
                AgentOptions.REGISTRATION_TIMEOUT, 60));
        options.putAll(more);
        AgentApp agent = own(AgentApp.start(AgentConfig.of("a", access.bootstrapServers(), directory.resolve("store")).with(options)));
        agent.registered().toCompletableFuture().get(60, TimeUnit.SECONDS);
        TestEngine engine = own(new TestEngine(agent.enginePort()));
        Prompt prompt = new Prompt(engine, directory.resolve("device"));

        long before = System.nanoTime();
        SubmitReply first = engine.calls().submit(prompt.submit("r1"));
        assertEquals(taken, first.getTakenBlocks());
        assertEquals(0, prompt.offer(first).getSourcesCount());
        prompt.compute();
        assertEquals(taken, prompt.seal("r1"), "sealed blocks that were taken");
        prompt.finish("r1");
        prompt.awaitReleased("r1");
        PeerScene.await("the status has the last of " + taken, () -> agent.status().count(AgentCounter.SAVED_BLOCKS) == taken);
        long saved = System.nanoTime();

        SubmitReply second = engine.calls().submit(prompt.submit("r2"));
        Offer offer = prompt.offer(second);
        int hit = Math.min(taken, BLOCKS - 1); // the last token is always computed
        assertEquals(hit, offer.getSourcesCount());
        assertTrue(offer.getSourcesList().stream().allMatch(Offer.Source.SOURCE_HOST::equals));
        prompt.load("r2", offer);
        long loaded = System.nanoTime();
        prompt.finish("r2");

        long cut = taken < BLOCKS ? 2 : 0;
        assertEquals(cut, agent.status().count(AgentCounter.PROMPTS_CUT));
        assertEquals(2L * (BLOCKS - taken), agent.status().count(AgentCounter.PROMPT_BLOCKS_NOT_TAKEN));
        assertEquals(BLOCKS - taken, agent.status().count(AgentCounter.SEALED_BLOCKS_NOT_TAKEN));
        int recorded = Math.min(taken, 16_384);
        assertEquals(List.of(recorded, recorded), LogFacts.read(access).stream()
                .filter(RequestAdmitted.class::isInstance).map(RequestAdmitted.class::cast).map(RequestAdmitted::wholeBlocks).toList());
        assertEquals(0, new CommandLine(new Main()).execute("audit", "verify", "--bootstrap-servers", access.bootstrapServers()));
        int longest = longest(access);
        System.out.println(taken + " blocks: saved in " + (saved - before) / 1_000_000 + " ms, submitted and loaded in "
                + (loaded - saved) / 1_000_000 + " ms, longest event " + longest + " bytes");
        return longest;
    }

    private static int longest(KafkaAccess access) {
        TopicPartition events = new TopicPartition(Topics.DEFAULT.events(), 0);
        int longest = 0;
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                access.client(Map.of("auto.offset.reset", "earliest")), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(events));
            consumer.seekToBeginning(List.of(events));
            long end = consumer.endOffsets(List.of(events)).getOrDefault(events, 0L);
            while (consumer.position(events) < end) {
                for (var one : consumer.poll(Duration.ofMillis(500))) {
                    longest = Math.max(longest, one.value().length);
                }
            }
        }
        return longest;
    }

    /** The prompt, and the device of its engine: block i is computed into page i, and loaded into page BLOCKS - 1 - i. */
    private static final class Prompt {
        private final TestEngine engine;
        private final Path device;
        private final String session;
        private final List<ByteString> keys = new ArrayList<>(BLOCKS);

        Prompt(TestEngine engine, Path device) throws Exception {
            this.engine = engine;
            this.device = Files.write(device, new byte[BLOCKS * BLOCK_BYTES]);
            byte[] key = new byte[32];
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            for (int i = 0; i < BLOCKS; i++) {
                key = sha.digest(key);
                keys.add(ByteString.copyFrom(key));
            }
            session = engine.open("gpu0");
            engine.calls().registerBuffers(RegisterBuffersRequest.newBuilder()
                    .setSession(session).setSharedMemoryPath(device.toString()).setPages(BLOCKS).setBlockBytes(BLOCK_BYTES)
                    .setLayoutDigest(TestEngine.bytes(Layouts.layoutDigest(Layouts.opaque(BLOCK_BYTES, BLOCK_TOKENS)))).build());
        }

        SubmitRequest submit(String request) {
            return SubmitRequest.newBuilder().setSession(session).setRequest(request).setAttempt(1).setNamespace("m").addAllKeys(keys)
                    .setPromptTokens(BLOCKS * BLOCK_TOKENS).setBlockTokens(BLOCK_TOKENS).setReuseEligible(true).build();
        }

        Offer offer(SubmitReply reply) {
            return reply.hasOffer() ? reply.getOffer() : engine.notice().getReady().getOffer();
        }

        private byte[] content(int block) {
            byte[] key = keys.get(block).toByteArray();
            byte[] bytes = new byte[BLOCK_BYTES];
            for (int at = 0; at < BLOCK_BYTES; at += key.length) {
                System.arraycopy(key, 0, bytes, at, key.length);
            }
            return bytes;
        }

        void compute() throws IOException {
            ByteBuffer all = ByteBuffer.allocate(BLOCKS * BLOCK_BYTES);
            for (int i = 0; i < BLOCKS; i++) {
                all.put(content(i));
            }
            write(all.flip());
        }

        private void write(ByteBuffer all) throws IOException {
            try (FileChannel file = FileChannel.open(device, StandardOpenOption.WRITE)) {
                while (all.hasRemaining()) {
                    file.write(all, all.position());
                }
            }
        }

        private BlockPage page(int block, int page, long generation) {
            return BlockPage.newBuilder().setIndex(block).setKey(keys.get(block)).setPage(page).setGeneration(generation).build();
        }

        /** Seals all blocks, as an engine does that prefills in parts; returns how many the agent has taken. */
        int seal(String request) {
            int taken = 0;
            for (int from = 0; from < BLOCKS; from += SEALED_AT_ONCE) {
                SealedRequest.Builder sealed = SealedRequest.newBuilder()
                        .setSession(session).setRequest(request).setAttempt(1).setNamespace("m").setRoot(keys.getFirst());
                if (from > 0) {
                    sealed.setParent(keys.get(from - 1));
                }
                for (int i = from; i < from + SEALED_AT_ONCE; i++) {
                    sealed.addBlocks(page(i, i, 1));
                }
                taken += engine.calls().sealed(sealed.build()).getTakenBlocks();
            }
            return taken;
        }

        void finish(String request) {
            engine.calls().prefilled(PrefilledRequest.newBuilder().setSession(session).setRequest(request).setAttempt(1).build());
            engine.calls().finish(FinishRequest.newBuilder().setSession(session).setRequest(request).setAttempt(1)
                    .setOutcome(FinishRequest.Outcome.OUTCOME_COMPLETED).build());
        }

        /** Every page comes free: of blocks that were not taken, and of those that were once they are saved. */
        void awaitReleased(String request) {
            Set<Integer> free = new HashSet<>();
            while (free.size() < BLOCKS) {
                Notice notice = engine.notice();
                assertEquals(request, notice.getReleased().getRequest(), notice::toString);
                free.addAll(notice.getReleased().getPagesList());
            }
        }

        void load(String request, Offer offer) throws IOException {
            write(ByteBuffer.allocate(BLOCKS * BLOCK_BYTES)); // nothing is there but what is loaded
            LoadRequest.Builder load = LoadRequest.newBuilder().setSession(session).setRequest(request).setAttempt(1).setNamespace("m")
                    .setLease(offer.getLease());
            for (int i = 0; i < offer.getSourcesCount(); i++) {
                load.addBlocks(page(i, BLOCKS - 1 - i, 2));
            }
            assertEquals(offer.getSourcesCount(), engine.calls().load(load.build()).getLoaded());
            byte[] found = Files.readAllBytes(device);
            ByteBuffer expected = ByteBuffer.allocate(found.length);
            for (int i = 0; i < offer.getSourcesCount(); i++) {
                expected.position((BLOCKS - 1 - i) * BLOCK_BYTES).put(content(i));
            }
            assertArrayEquals(expected.array(), found);
        }
    }
}
