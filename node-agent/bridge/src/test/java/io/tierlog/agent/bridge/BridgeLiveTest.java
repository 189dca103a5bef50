/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import static io.tierlog.agent.bridge.DirectoryAnswers.difference;
import static io.tierlog.agent.bridge.DirectoryAnswers.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.events.config.OptionValues;
import io.tierlog.schemas.Tier;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** From engines' sockets through the log to a directory: its answers are what the engines hold, or UNKNOWN. */
@Tag("slow")
class BridgeLiveTest {
    private static final int REQUESTS = 1_000;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private static Path directory;

    @SuppressWarnings("NullAway.Init") // JUnit calls start() first.
    private static LiveLog log;

    @BeforeAll
    static void start() throws Exception {
        log = LiveLog.start(directory);
    }

    @AfterAll
    static void stop() {
        log.close();
    }

    private static BridgeApp bridge(Map<String, Object> options) {
        Map<String, Object> all = new HashMap<>(options);
        all.put("bootstrap.servers", log.broker().bootstrapServers());
        all.put(BridgeOptions.SILENCE, 1);
        return BridgeApp.start(BridgeConfig.of(OptionValues.parse(BridgeOptions.options(), all)));
    }

    private static Set<String> answers(String namespace, Set<Long> hashes) {
        return DirectoryAnswers.answers(log.where(), namespace, hashes);
    }

    private static Set<String> truth(String node, FakeEngine engine) {
        Set<String> truth = new TreeSet<>();
        engine.onDevice().forEach(hash -> truth.add("%016x %s %s".formatted(hash, node, Tier.DEVICE)));
        engine.onHost().forEach(hash -> truth.add("%016x %s %s".formatted(hash, node, Tier.HOST)));
        return truth;
    }

    private void ranksAreWhatTheDirectorySays(Batches.Form form, boolean topicInReplay, String pod, String model) throws Exception {
        List<FakeEngine> ranks = new ArrayList<>();
        List<String> sources = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            int port = Ports.free();
            int replay = Ports.free();
            String topic = "kv@" + pod + "@" + model;
            ranks.add(new FakeEngine(new FakeEngine.Settings(form, port, replay, topicInReplay, rank, topic, 20, 7 + rank, false)));
            sources.add("tcp://127.0.0.1:" + port + " replay=tcp://127.0.0.1:" + replay);
        }
        try (BridgeApp bridge = bridge(Map.of(BridgeOptions.SOURCE, sources))) {
            for (int part = 0; part < 4; part++) {
                for (int rank = 0; rank < 2; rank++) {
                    ranks.get(rank).serve(REQUESTS / 8);
                }
                if (part < 2) {
                    ranks.get(part).restart();
                }
            }
            eventually(() -> {
                Set<Long> ever = new LinkedHashSet<>(ranks.get(0).everStored());
                ever.addAll(ranks.get(1).everStored());
                Set<String> truth = truth("ext-" + pod + "-dp0", ranks.get(0));
                truth.addAll(truth("ext-" + pod + "-dp1", ranks.get(1)));
                return difference(truth, answers(model, ever));
            });
            assertTrue(bridge.counts().of(BridgeCounter.RESTARTS) >= 2, "two processes have begun again");
            assertTrue(bridge.counts().of(BridgeCounter.REPLAYED) > 0);
        } finally {
            for (FakeEngine rank : ranks) {
                rank.close();
            }
        }
        // The bridge has ended, and with it what it spoke for.
        eventually(() -> answers(model, ranks.get(0).everStored()).isEmpty() ? "" : "blocks of a bridge that has ended");
    }

    @Test
    void aVllmOfTodayIsFollowedOverLossesAndRestarts() throws Exception {
        ranksAreWhatTheDirectorySays(Batches.Form.MAPS, true, "vllm-1", "llama");
    }

    @Test
    void anSglangIsFollowedOverLossesAndRestarts() throws Exception {
        ranksAreWhatTheDirectorySays(Batches.Form.ARRAYS, false, "sglang-1", "qwen");
    }

    /** A prompt of 1,048,576 tokens is 65,536 blocks of 16 in one event: the directory has all of them, asked in parts. */
    @Test
    void aPromptOfAMillionTokensIsFound() throws Exception {
        int port = Ports.free();
        int blocks = 65_536;
        int part = 8_192;
        long first = 1L << 40;
        try (FakeEngine engine = new FakeEngine(new FakeEngine.Settings(Batches.Form.MAPS, port, 0, true, 0, "", 0, 3, false));
                BridgeApp bridge = bridge(Map.of(BridgeOptions.SOURCE_NAMES, List.of("tcp://localhost:" + port + " name=long model=million")))) {
            eventually(() -> {
                engine.publish(true, Batches.stored("GPU", null, 1));
                return bridge.registered() == 1 ? "" : "the bridge has no batch yet";
            });
            engine.publish(true, Batches.stored("GPU", null, LongStream.range(first, first + blocks).toArray()));
            for (long from = first; from < first + blocks; from += part) {
                Set<Long> asked = LongStream.range(from, from + part).boxed().collect(Collectors.toCollection(LinkedHashSet::new));
                Set<String> truth = asked.stream().map("%016x ext-long-dp0 DEVICE"::formatted).collect(Collectors.toCollection(TreeSet::new));
                eventually(() -> difference(truth, answers("million", asked)));
            }
        }
    }

    @Test
    void withoutReplaysLostBatchesAreUnknownAndThenKnownAgain() throws Exception {
        int port = Ports.free();
        try (FakeEngine engine = new FakeEngine(new FakeEngine.Settings(Batches.Form.MAPS, port, 0, true, 0, "", 0, 3, false));
                BridgeApp bridge = bridge(Map.of(BridgeOptions.SOURCE_NAMES, List.of("tcp://localhost:" + port + " name=solo model=phi"),
                        BridgeOptions.UNKNOWN_FOR, 86_400))) {
            eventually(() -> {
                engine.publish(true, Batches.stored("GPU", null, 1));
                return bridge.registered() == 1 ? "" : "the bridge has no batch yet";
            });
            engine.restart();
            engine.publish(true, Batches.stored("GPU", null, 1, 2));
            eventually(() -> difference(Set.of("0000000000000001 ext-solo-dp0 DEVICE", "0000000000000002 ext-solo-dp0 DEVICE"),
                    answers("phi", Set.of(1L, 2L, 3L, 4L))));
            engine.publish(false, Batches.removed("GPU", 2), Batches.stored("GPU", null, 3));
            engine.publish(true, Batches.stored("GPU", null, 4));
            eventually(() -> difference(Set.of("0000000000000001 UNKNOWN", "0000000000000002 UNKNOWN", "0000000000000003 UNKNOWN",
                    "0000000000000004 ext-solo-dp0 DEVICE"), answers("phi", Set.of(1L, 2L, 3L, 4L))));
            // The lost batch may have stored below the device, which is all that a clear tells of.
            engine.publish(true, Batches.cleared());
            eventually(() -> difference(Set.of("0000000000000001 UNKNOWN", "0000000000000002 UNKNOWN", "0000000000000003 UNKNOWN",
                    "0000000000000004 UNKNOWN"), answers("phi", Set.of(1L, 2L, 3L, 4L))));
            engine.restart();
            engine.publish(true, Batches.stored("GPU", null, 4));
            eventually(() -> difference(Set.of("0000000000000004 ext-solo-dp0 DEVICE"), answers("phi", Set.of(1L, 2L, 3L, 4L))));
        }
    }

    @Test
    void anAnswerWithoutATopicIsOfTheTopicThatComesLive() throws Exception {
        for (String topic : List.of("events", "kv@topicless@late-model")) {
            int port = Ports.free();
            int replay = Ports.free();
            try (FakeEngine engine = new FakeEngine(new FakeEngine.Settings(Batches.Form.ARRAYS, port, replay, false, 0, topic, 0, 3, false))) {
                engine.publish(true, Batches.stored("GPU", null, 1, 2));
                try (BridgeApp _ = bridge(Map.of(BridgeOptions.SOURCE, List.of("tcp://127.0.0.1:" + port + " replay=tcp://127.0.0.1:" + replay)))) {
                    String address = " ext-127.0.0.1-" + port + "-dp0 DEVICE";
                    Set<Long> all = Set.of(1L, 2L, 3L);
                    eventually(() -> difference(Set.of("0000000000000001" + address, "0000000000000002" + address), answers("default", all)));
                    engine.publish(true, Batches.removed("GPU", 2), Batches.stored("GPU", null, 3));
                    boolean named = topic.startsWith("kv@");
                    String node = named ? " ext-topicless-dp0 DEVICE" : address;
                    eventually(() -> difference(Set.of("0000000000000001" + node, "0000000000000003" + node),
                            answers(named ? "late-model" : "default", all)));
                    eventually(() -> named ? difference(Set.of(), answers("default", all)) : "");
                }
            }
        }
    }

    @Test
    void enginesConnectToTheBridge() throws Exception {
        int port = Ports.free();
        try (BridgeApp bridge = bridge(Map.of(BridgeOptions.SOURCE, List.of("tcp://*:" + port)));
                FakeEngine one = new FakeEngine(new FakeEngine.Settings(Batches.Form.MAPS, port, 0, true, 0, "kv@c1@falcon", 0, 3, true));
                FakeEngine two = new FakeEngine(new FakeEngine.Settings(Batches.Form.ARRAYS, port, 0, true, 0, "kv@c2@falcon", 0, 4, true))) {
            eventually(() -> {
                one.publish(true, Batches.stored("GPU", null, 1));
                two.publish(true, Batches.stored("GPU", null, 1));
                return bridge.registered() == 2 ? "" : "the bridge has no batches of both";
            });
            for (FakeEngine engine : List.of(one, two)) {
                engine.restart();
                engine.publish(true, Batches.stored("GPU", null, engine.equals(one) ? 5 : 6));
                engine.serve(50);
            }
            eventually(() -> {
                Set<Long> ever = new LinkedHashSet<>(one.everStored());
                ever.addAll(two.everStored());
                Set<String> truth = truth("ext-c1-dp0", one);
                truth.addAll(truth("ext-c2-dp0", two));
                return difference(truth, answers("falcon", ever));
            });
        }
    }

    @Test
    void sourcesComeAndGoWithTheirFile() throws Exception {
        int port = Ports.free();
        int replay = Ports.free();
        Path file = Files.writeString(directory.resolve("sources"), "# none yet\n");
        try (FakeEngine engine = new FakeEngine(new FakeEngine.Settings(Batches.Form.MAPS, port, replay, true, -1, "", 0, 3, false));
                BridgeApp _ = bridge(Map.of(BridgeOptions.SOURCES, file.toString()))) {
            engine.publish(true, Batches.stored("GPU", null, 1));
            for (int i = 0; i < 2; i++) {
                Files.writeString(file, "tcp://127.0.0.1:" + port + " replay=tcp://127.0.0.1:" + replay + " name=filed model=gemma rank=3\n");
                eventually(() -> difference(Set.of("0000000000000001 ext-filed-dp3 DEVICE"), answers("gemma", Set.of(1L))));
                Files.writeString(file, "\n");
                eventually(() -> difference(Set.of(), answers("gemma", Set.of(1L))));
            }
        }
    }

    @Test
    void aRankIsTheOneThatItsAnswersName() throws Exception {
        for (int rank : List.of(0, 2)) {
            int port = Ports.free();
            int replay = Ports.free();
            String model = "early-" + rank;
            try (FakeEngine engine = new FakeEngine(
                    new FakeEngine.Settings(Batches.Form.MAPS, port, replay, true, rank, "kv@early@" + model, 0, 3, false))) {
                engine.publish(true, Batches.stored("GPU", null, 1, 2));
                engine.publish(true, Batches.stored("GPU", 2L, 3));
                String source = "tcp://127.0.0.1:" + port + " replay=tcp://127.0.0.1:" + replay;
                try (BridgeApp bridge = bridge(Map.of(BridgeOptions.SOURCE, List.of(source)))) {
                    String node = " ext-early-dp" + rank + " DEVICE";
                    eventually(() -> difference(Set.of("0000000000000001" + node, "0000000000000002" + node, "0000000000000003" + node),
                            answers(model, Set.of(1L, 2L, 3L))));
                    engine.publish(true, Batches.removed("GPU", 3));
                    engine.publish(true, Batches.stored("GPU", 2L, 4));
                    eventually(() -> difference(Set.of("0000000000000001" + node, "0000000000000002" + node, "0000000000000004" + node),
                            answers(model, Set.of(1L, 2L, 3L, 4L))));
                    assertEquals(1, bridge.registered());
                }
            }
        }
    }

    @Test
    void anAddressThatCannotBeUsedEndsNoOtherSource() throws Exception {
        int bound = Ports.free();
        int port = Ports.free();
        ServerSocket taken = new ServerSocket(0);
        try (FakeEngine engine = new FakeEngine(new FakeEngine.Settings(Batches.Form.MAPS, port, 0, true, 0, "kv@u1@unreplayed", 0, 3, false));
                FakeEngine far = new FakeEngine(
                        new FakeEngine.Settings(Batches.Form.MAPS, bound, 0, true, 60_000, "kv@127.0.0.1@far", 0, 3, true))) {
            Path file = Files.writeString(directory.resolve("bad"), "tcp://*:" + taken.getLocalPort() + "\n"
                    + "tcp://no-such-host.invalid:5557\n"
                    + "tcp://*:" + bound + " replay=tcp://{instance}:5558\n"
                    + "tcp://127.0.0.1:" + port + " replay=tcp://no-such-host.invalid:5558\n");
            try (BridgeApp bridge = bridge(Map.of(BridgeOptions.SOURCES, file.toString()))) {
                eventually(() -> {
                    engine.publish(true, Batches.stored("GPU", null, 1));
                    far.publish(true, Batches.stored("GPU", null, 1));
                    return bridge.registered() == 2 ? "" : "the bridge has no batches of both: " + bridge.registered();
                });
                assertTrue(bridge.counts().of(BridgeCounter.UNANSWERED) > 0, "the name of a replay does not resolve");
                eventually(() -> bridge.counts().of(BridgeCounter.SOURCE_FAILURES) > 2 ? "" : "what is left out is not tried again");
                int later = taken.getLocalPort();
                taken.close();
                try (FakeEngine late = new FakeEngine(
                        new FakeEngine.Settings(Batches.Form.MAPS, later, 0, true, 0, "kv@late@late", 0, 3, true))) {
                    eventually(() -> {
                        late.publish(true, Batches.stored("GPU", null, 1));
                        return difference(Set.of("0000000000000001 ext-late-dp0 DEVICE"), answers("late", Set.of(1L)));
                    });
                }
                assertFalse(bridge.ended().isDone());
            }
        } finally {
            taken.close();
        }
    }

    @Test
    void twoModelsOfAnInstanceAreTwoNodes() throws Exception {
        int port = Ports.free();
        int replay = Ports.free();
        try (FakeEngine engine = new FakeEngine(new FakeEngine.Settings(Batches.Form.MAPS, port, replay, true, 0, "kv@two@m1", 0, 3, false))) {
            for (int model = 1; model <= 3; model++) {
                engine.publishAs("kv@two@m" + model, true, Batches.stored("GPU", null, model));
            }
            try (BridgeApp bridge = bridge(Map.of(BridgeOptions.SOURCE, List.of("tcp://127.0.0.1:" + port + " replay=tcp://127.0.0.1:" + replay)))) {
                for (int model = 1; model <= 3; model++) {
                    String namespace = "m" + model;
                    String block = "%016x".formatted(model);
                    eventually(() -> answers(namespace, Set.of(1L, 2L, 3L)).stream().filter(each -> each.startsWith(block) && each.endsWith("DEVICE"))
                            .count() == 1 ? "" : answers(namespace, Set.of(1L, 2L, 3L)).toString());
                }
                assertEquals(3, bridge.registered());
            }
        }
    }

    @Test
    void blocksBeyondTheBoundAreUnknown() throws Exception {
        int port = Ports.free();
        int replay = Ports.free();
        try (FakeEngine engine = new FakeEngine(new FakeEngine.Settings(Batches.Form.MAPS, port, replay, true, 0, "kv@full@full", 0, 3, false));
                BridgeApp _ = bridge(Map.of(BridgeOptions.SOURCE, List.of("tcp://127.0.0.1:" + port + " replay=tcp://127.0.0.1:" + replay),
                        BridgeOptions.BLOCKS, 1_000))) {
            for (int batch = 0; batch < 11; batch++) {
                long[] hashes = new long[100];
                for (int i = 0; i < hashes.length; i++) {
                    hashes[i] = 1 + i + batch * 100L;
                }
                engine.publish(true, Batches.stored("GPU", null, hashes));
            }
            Set<Long> some = Set.of(1_000L, 1_001L);
            eventually(() -> difference(Set.of("00000000000003e8 ext-full-dp0 DEVICE", "00000000000003e9 UNKNOWN"), answers("full", some)));
            engine.publish(true, Batches.cleared());
            eventually(() -> difference(Set.of(), answers("full", some)));
        }
    }

    @Test
    void aPublisherThatDoesNotCountBeginsAgainWithEachConnection() throws Exception {
        int port = Ports.free();
        try (BridgeApp _ = bridge(Map.of(BridgeOptions.SOURCE, List.of("tcp://127.0.0.1:" + port + " name=atom model=atom")))) {
            byte[] batch = Batches.batch(Batches.Form.ARRAYS, 1, 0, Batches.stored("GPU", null, 1));
            for (int process = 0; process < 2; process++) {
                try (ZContext context = new ZContext()) {
                    ZMQ.Socket pub = context.createSocket(SocketType.PUB);
                    assertTrue(pub.bind("tcp://127.0.0.1:" + port));
                    boolean first = process == 0;
                    eventually(() -> {
                        if (first) {
                            pub.send(batch);
                        }
                        return difference(Set.of("0000000000000001 " + (first ? "ext-atom-dp0 DEVICE" : "UNKNOWN")), answers("atom", Set.of(1L)));
                    });
                }
            }
        }
    }

    @Test
    void aSilentEngineThatConnectedIsGoneAndComesBackAsOneWhosePastIsUnknown() throws Exception {
        int port = Ports.free();
        try (BridgeApp bridge = bridge(Map.of(BridgeOptions.SOURCE, List.of("tcp://*:" + port), BridgeOptions.IDLE_TIMEOUT, 2));
                FakeEngine engine = new FakeEngine(new FakeEngine.Settings(Batches.Form.MAPS, port, 0, true, 0, "kv@idle@idle", 0, 3, true))) {
            eventually(() -> {
                engine.publish(true, Batches.stored("GPU", null, 1));
                return difference(Set.of("0000000000000001 ext-idle-dp0 DEVICE"), answers("idle", Set.of(1L)));
            });
            eventually(() -> difference(Set.of(), answers("idle", Set.of(1L))) + (bridge.registered() == 0 ? "" : " still registered"));
            eventually(() -> {
                engine.publish(true, Batches.stored("GPU", null, 2));
                return difference(Set.of("0000000000000001 UNKNOWN", "0000000000000002 ext-idle-dp0 DEVICE"), answers("idle", Set.of(1L, 2L)));
            });
        }
    }

    /** Engines publish the ids of the tokens of a prompt, which is the prompt itself. No record of any topic has one, in any form of a number. */
    @Test
    void theTokensOfAPromptAreInNoRecordOfTheLog() throws Exception {
        long[] hashes = {0x71f3_a2b4_c5d6_e7f8L, 0x71f3_a2b4_c5d6_e7f9L};
        for (Batches.Form form : Batches.Form.values()) {
            int port = Ports.free();
            int replay = Ports.free();
            try (FakeEngine engine = new FakeEngine(new FakeEngine.Settings(form, port, replay, true, 0, "kv@tokens@" + form, 0, 3, false));
                    BridgeApp _ = bridge(Map.of(BridgeOptions.SOURCE, List.of("tcp://127.0.0.1:" + port + " replay=tcp://127.0.0.1:" + replay)))) {
                engine.publish(true, Batches.stored("GPU", null, hashes));
                eventually(() -> answers(form.name(), Set.of(hashes[0], hashes[1])).size() == 2 ? "" : "the blocks are not found");
            }
        }
        List<byte[]> records = log.bytes();
        byte[] key = ByteBuffer.allocate(Long.BYTES).putLong(hashes[0]).array();
        assertTrue(records.stream().anyMatch(record -> contains(record, key)), "the search finds what is there: the key of the block");
        for (int token = Batches.FIRST_TOKEN; token < Batches.FIRST_TOKEN + 8; token++) {
            int id = token;
            for (byte[] form : forms(id)) {
                assertFalse(records.stream().anyMatch(record -> contains(record, form)),
                        () -> "a record has " + id + " as " + HexFormat.of().formatHex(form));
            }
        }
    }

    /** A number in text, in four bytes from either end, and as Avro writes it. */
    static List<byte[]> forms(int number) {
        ByteBuffer avro = ByteBuffer.allocate(10);
        long left = 2L * number; // zigzag of a positive number
        for (; left >= 0x80; left >>>= 7) {
            avro.put((byte) (left | 0x80));
        }
        avro.put((byte) left);
        return List.of(String.valueOf(number).getBytes(StandardCharsets.US_ASCII), ByteBuffer.allocate(4).putInt(number).array(),
                ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(number).array(), Arrays.copyOf(avro.array(), avro.position()));
    }

    static boolean contains(byte[] record, byte[] part) {
        for (int at = 0; at <= record.length - part.length; at++) {
            if (record[at] == part[0] && Arrays.equals(record, at, at + part.length, part, 0, part.length)) {
                return true;
            }
        }
        return false;
    }
}
