/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.BackUpDone;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.MigrationAssigned;
import io.tierlog.schemas.event.WriteBackDone;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Inputs with what every version of the core decided about them. A change of decisions is a new version: raise
 * {@link CoreVersion#CURRENT}, let the old versions decide as before, and record the new one with {@code mvn -pl controller/core -am test
 * -Dtest=CorpusTest -Dcorpus.record=true -Dsurefire.failIfNoSpecifiedTests=false}. What is recorded is never written again.
 */
class CorpusTest {
    private static final Path CORPUS = Path.of(System.getProperty("tierlog.root"), "controller", "core", "src", "test", "corpus");
    private static final boolean RECORD = Boolean.getBoolean("corpus.record");
    private static final Limits LIMITS = new Limits(1, 12, 100, 3, 5, 64, 4);
    private static final List<Integer> SEEDS = List.of(1, 2, 3, 4, 5);
    /** Histories from this seed on reuse prompts on a small host. */
    private static final int REUSE = 3;
    /** The history of this seed samples blocks with long names. */
    private static final int LONG_NAMES = 5;
    private static final int STEPS = 600;

    /** A list of records in a file: each with the schema that it was written by, once a file. */
    private record Recorded(Path file) {
        void write(List<? extends WireRecord> records) throws IOException {
            Files.createDirectories(file.getParent());
            Map<Schema, Integer> known = new HashMap<>();
            try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new GZIPOutputStream(Files.newOutputStream(file))))) {
                out.writeInt(records.size());
                for (WireRecord one : records) {
                    WireType<?> type = WireType.of(one);
                    Integer id = known.get(type.schema());
                    out.writeInt(id == null ? known.size() : id);
                    if (id == null) {
                        known.put(type.schema(), known.size());
                        bytes(out, type.schema().toString().getBytes(StandardCharsets.UTF_8));
                    }
                    bytes(out, encode(type, one));
                }
            }
        }

        <F extends WireRecord> List<F> read(Class<F> family) throws IOException {
            Map<String, WireType<? extends F>> types = new HashMap<>();
            WireType.ofFamily(family).forEach(type -> types.put(type.fullName(), type));
            List<Schema> known = new ArrayList<>();
            List<F> records = new ArrayList<>();
            try (DataInputStream in = new DataInputStream(new BufferedInputStream(new GZIPInputStream(Files.newInputStream(file))))) {
                for (int left = in.readInt(); left > 0; left--) {
                    int id = in.readInt();
                    if (id == known.size()) {
                        known.add(new Schema.Parser().parse(new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8)));
                    }
                    Schema writer = known.get(id);
                    records.add(types.get(writer.getFullName()).decode(in.readNBytes(in.readInt()), writer));
                }
            }
            return records;
        }

        private static void bytes(DataOutputStream out, byte[] bytes) throws IOException {
            out.writeInt(bytes.length);
            out.write(bytes);
        }

        @SuppressWarnings("unchecked") // the type is that of the record
        private static <T extends WireRecord> byte[] encode(WireType<T> type, WireRecord value) {
            return type.encode((T) value);
        }
    }

    private static Recorded inputs(int seed) {
        return new Recorded(CORPUS.resolve("inputs-" + seed + ".gz"));
    }

    private static Recorded decisions(int seed, int version) {
        return new Recorded(CORPUS.resolve("decisions-" + seed + "-v" + version + ".gz"));
    }

    /** What a core of that version decides about the events, in order. */
    private static List<Fact> decide(List<Event> events, int version) {
        Core core = new Core(LIMITS, "", version);
        HeapTables tables = new HeapTables();
        List<Fact> facts = new ArrayList<>();
        for (int i = 0; i < events.size(); i++) {
            facts.addAll(core.step(tables, new Input.Recorded(0, World.FIRST_OFFSET + i, events.get(i), 0)).facts());
        }
        return facts;
    }

    private static Stream<Integer> seeds() {
        return SEEDS.stream();
    }

    private static List<Event> events(int seed) throws IOException {
        if (RECORD && !Files.exists(inputs(seed).file())) {
            World world = seed < REUSE
                    ? new RandomHistory(seed, (_, _) -> {}, () -> {}).ordersOfTheVersion().run(STEPS).world()
                    : seed < LONG_NAMES ? reuse(seed) : longNames(seed);
            List<Event> drawn = world.log.stream()
                    .map(input -> ((Input.Recorded) input).event())
                    .toList();
            inputs(seed).write(drawn);
        }
        return inputs(seed).read(Event.class);
    }

    /** Samples of up to 40 blocks, each in a namespace of 64 characters of three bytes. */
    private static World longNames(int seed) {
        Random random = new Random(seed);
        World w = new World(new HeapTables(), LIMITS);
        Agent a = w.register(new Agent("a", "a-1", 100, 100));
        for (int i = 0; i < 60; i++) {
            w.input(new BlocksRecovered(a.envelope(), Tier.HOST, "\u20ac".repeat(64),
                    List.of(new PagedBlock(new Block(0, Agent.key("b" + i), Bytes.EMPTY), i, 7, 77)), 59 - i));
        }
        for (int i = 0; i < STEPS; i++) {
            SampleRule rule = new SampleRule(1 + random.nextInt(40), random.nextInt(2_000), "");
            MigrationOrder order = new MigrationOrder(MigrationMethod.COPY, Tier.HOST, Tier.DISK, Retention.KEEP_BOTH, List.of(), rule, null, true);
            w.input(new MigrationAssigned(new Envelope(a.aggregate(), "migration/m" + i, 0, 1, 0, 0, null, null, null), order, i));
            w.tick();
        }
        return w;
    }

    /** Prompts of two common beginnings come again and again, mostly the same ones, and do not fit below the high mark of the host, 20 blocks. */
    private static World reuse(int seed) {
        Random random = new Random(seed);
        World w = new World(new HeapTables(), LIMITS).policy(new Policy(
                100, WritePolicy.WRITE_BACK, 0.02, 0.015, 0, 0, true, 3, 1_000, 5_000, 0, true, null, null));
        Agent a = w.register("a", 1_000);
        for (int i = 0; i < 200; i++) {
            String system = "s" + random.nextInt(2);
            String user = system + "u" + random.nextInt(1 + random.nextInt(16)) + "-";
            List<Bytes> path = new ArrayList<>(Agent.path(system, 2));
            path.addAll(Agent.path(user, 2));
            String request = "r" + i;
            int page = i * path.size();
            send(w, a, page, a.submit(request, path).answered().event());
            send(w, a, page, a.prefilled(request, 1));
            send(w, a, page, a.sealed(request, 1, Agent.paged(path, 0, path.size(), 1_000 + page)));
            send(w, a, page, a.finished(request, 1));
            w.tick();
            answer(w, a, page);
        }
        return w;
    }

    private static void send(World w, Agent a, int page, Event event) {
        w.input(event);
        answer(w, a, page);
    }

    /** The agent does at once what it is to do; blocks come to the host in pages from {@code page} on. */
    private static void answer(World w, Agent a, int page) {
        Deque<Command> open = new ArrayDeque<>(w.last.commands());
        while (!open.isEmpty()) {
            Event done = switch (open.remove()) {
                case DropBlocks c -> new DropDone(a.envelope(), c.operation(), c.tier(), Agent.NAMESPACE, Agent.gone(c));
                case WriteBackBlocks c -> new WriteBackDone(
                        a.envelope(), c.operation(), Agent.NAMESPACE, Agent.arrived(Blocks.of(c.blocks()), page), 0, 0);
                case BackUpBlocks c -> new BackUpDone(
                        a.envelope(), c.operation(), Agent.NAMESPACE, Agent.arrived(Blocks.of(c.blocks()), page), 0, 0);
                default -> null;
            };
            if (done != null) {
                w.input(done);
                open.addAll(w.last.commands());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyVersionDecidesAsItDid(int seed) throws IOException {
        List<Event> events = events(seed);
        assertTrue(events.size() > STEPS / 2, "it has " + events.size() + " events");
        for (int version : IntStream.rangeClosed(CoreVersion.OLDEST, CoreVersion.CURRENT).toArray()) {
            List<Fact> made = decide(events, version);
            if (RECORD && !Files.exists(decisions(seed, version).file())) {
                decisions(seed, version).write(made);
            }
            List<Fact> recorded = decisions(seed, version).read(Fact.class);
            for (int i = 0; i < Math.min(made.size(), recorded.size()); i++) {
                assertEquals(recorded.get(i), made.get(i), "seed " + seed + ", decision " + i + " of core version " + version
                        + " is another: restore what the version decided, or raise CoreVersion.CURRENT");
            }
            assertEquals(recorded.size(), made.size(), "seed " + seed + ", decisions of core version " + version);
        }
    }

    /** A version that decides as the one before would have been raised for nothing. */
    @Test
    void versionsDiffer() throws IOException {
        for (int version = CoreVersion.OLDEST + 1; version <= CoreVersion.CURRENT; version++) {
            assertNotEquals(decideAll(version - 1), decideAll(version), "core version " + version);
        }
    }

    /** Without the first facts, which name the version. */
    private static List<Fact> decideAll(int version) throws IOException {
        List<Fact> all = new ArrayList<>();
        for (int seed : SEEDS) {
            List<Fact> made = decide(events(seed), version);
            all.addAll(made.subList(1, made.size()));
        }
        return all;
    }
}
