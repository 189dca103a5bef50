/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.index.PlacementIndex.Batch;
import io.tierlog.controller.directory.index.PlacementIndex.BlockKey;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.index.PlacementIndex.Taken;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The index against an obvious model on random histories, with good hashes and bad ones, and its edges one by one. */
class PlacementIndexTest {
    private static final Comparator<BlockPlacement> ORDER = Comparator.comparing(placed -> placed.location().toString());
    private static final Bytes NAMESPACE = Namespaces.digest("model/a");

    /** Hashes that a test may be hard with. */
    enum Hash {
        GOOD(KeyHash.DEFAULT),
        /** All keys in one place. */
        SAME((_, _) -> 7),
        /** Runs at the end of the table that go on at its beginning. */
        AT_THE_END((_, key) -> -1 - (int) (key.word(0) & 3)),
        /** Four places, and the same hash for keys that differ in their last byte only. */
        FOUR((namespace, key) -> namespace * 31 + (int) (key.word(0) & 3));

        @SuppressWarnings("ImmutableEnumChecker") // They keep nothing.
        private final KeyHash hash;

        Hash(KeyHash hash) {
            this.hash = hash;
        }
    }

    @ParameterizedTest
    @EnumSource
    void anyHistoryLeavesWhatTheObviousModelHas(Hash hash) {
        for (long seed = 1; seed <= 60; seed++) {
            history(seed, hash, 60, 1_500);
        }
    }

    /** Through many doublings of the table. */
    @Test
    void aLongHistoryLeavesWhatTheObviousModelHas() {
        history(1, Hash.GOOD, 6_000, 60_000);
    }

    private static void history(long seed, Hash hash, int keys, int steps) {
        Random random = new Random(seed);
        ReferenceIndex model = new ReferenceIndex();
        List<BlockKey> universe = universe(random, keys);
        try (PlacementIndex index = new PlacementIndex(IndexLimits.DEFAULTS, new Incarnations(), hash.hash)) {
            for (int step = 0; step < steps; step++) {
                String at = "seed " + seed + " step " + step + " hash " + hash;
                step(random, universe.get(random.nextInt(keys)), model, index, at);
                if (step % (keys * 2) == 0) {
                    compare(universe, model, index, at);
                }
            }
            compare(universe, model, index, "seed " + seed);
            compareTogether(universe, model, index, "seed " + seed);
            drain(model, index);
            assertEquals(new PlacementIndex.Size(0, 0, 0, 0, index.size().bytes()), index.size());
            assertEquals(0, index.cellsInUse());
        }
    }

    private static void step(Random random, BlockKey block, ReferenceIndex model, PlacementIndex index, String at) {
        Location location = new Location(random.nextInt(5) == 0 ? "store/0" : "node/" + random.nextInt(4), tier(random));
        int what = random.nextInt(20);
        if (what < 11) {
            BlockPlacement placed =
                    new BlockPlacement(location, location.isOnNode() ? 1 + random.nextInt(2) : 0, random.nextInt(9), random.nextLong());
            boolean had = model.locations(block).contains(location);
            model.put(block, placed);
            assertEquals(had ? Taken.REPLACED : Taken.ADDED, index.put(block, placed), at);
        } else if (what < 12) {
            boolean had = model.locations(block).contains(location);
            model.unreadable(block, location);
            assertEquals(had ? Taken.REPLACED : Taken.ADDED, index.unreadable(block, location), at);
        } else {
            List<Location> has = model.locations(block);
            Location gone = has.isEmpty() || what == 19 ? location : has.get(random.nextInt(has.size()));
            assertEquals(model.remove(block, gone), index.remove(block, gone), at);
        }
    }

    private static void drain(ReferenceIndex model, PlacementIndex index) {
        for (BlockKey block : model.blocks()) {
            for (Location location : model.locations(block)) {
                assertTrue(index.remove(block, location));
                model.remove(block, location);
            }
        }
    }

    private static Tier tier(Random random) {
        return List.of(Tier.DEVICE, Tier.HOST, Tier.DISK, Tier.STORE).get(random.nextInt(4));
    }

    /** Keys of all lengths, many of which differ in one byte, in their namespace or in their length alone. */
    private static List<BlockKey> universe(Random random, int count) {
        List<BlockKey> all = new ArrayList<>();
        byte[] base = new byte[KeyWords.MOST];
        random.nextBytes(base);
        while (all.size() < count) {
            byte[] key = Arrays.copyOf(base, KeyWords.LEAST + random.nextInt(KeyWords.MOST - KeyWords.LEAST + 1));
            if (count > 100 || random.nextBoolean()) {
                key[random.nextInt(key.length)] ^= (byte) (1 << random.nextInt(8));
                key[key.length - 1] ^= (byte) random.nextInt(256);
                key[4] ^= (byte) random.nextInt(count > 100 ? 256 : 1);
            } else if (random.nextInt(4) == 0) {
                key[key.length - 1] = 0;
            }
            BlockKey block = new BlockKey(Namespaces.digest("model/" + random.nextInt(3)), Bytes.copyOf(key));
            if (!all.contains(block)) {
                all.add(block);
            }
        }
        return all;
    }

    private static void compare(List<BlockKey> universe, ReferenceIndex model, PlacementIndex index, String at) {
        for (BlockKey block : universe) {
            Found found = where(index, block);
            assertEquals(model.presence(block), found.presence(), () -> at + " " + block);
            assertEquals(model.presence(block), exist(index, block), () -> at + " " + block);
            assertEquals(sorted(model.where(block)), sorted(found.placements()), () -> at + " " + block);
        }
        PlacementIndex.Size size = index.size();
        assertEquals(model.size(), size.blocks(), at);
        assertEquals(model.placements(), size.placements(), at);
        assertEquals(model.namespaces(), size.namespaces(), at);
    }

    /** The keys of a namespace and a length in one batch, each several times, so that it is longer than what is looked for together. */
    private static void compareTogether(List<BlockKey> universe, ReferenceIndex model, PlacementIndex index, String at) {
        Map<String, List<BlockKey>> alike = new TreeMap<>();
        for (BlockKey block : universe) {
            alike.computeIfAbsent(block.namespace() + " " + block.key().size(), _ -> new ArrayList<>()).add(block);
        }
        for (List<BlockKey> blocks : alike.values()) {
            int width = blocks.getFirst().key().size();
            int count = Math.max(150, blocks.size());
            byte[] keys = new byte[count * width];
            IntStream.range(0, count).forEach(i ->
                    System.arraycopy(blocks.get(i % blocks.size()).key().unshared(), 0, keys, i * width, width));
            Batch batch = new Batch(blocks.getFirst().namespace(), keys, width, IntStream.range(0, count).toArray(), 0, count);
            byte[] answers = new byte[count];
            assertTrue(index.exist(batch, answers), at);
            List<Found> found = index.where(batch).orElseThrow();
            for (int i = 0; i < count; i++) {
                BlockKey block = blocks.get(i % blocks.size());
                assertEquals(model.presence(block), Presence.of(answers[i]), () -> at + " " + block);
                assertEquals(model.presence(block), found.get(i).presence(), () -> at + " " + block);
                assertEquals(sorted(model.where(block)), sorted(found.get(i).placements()), () -> at + " " + block);
            }
        }
    }

    private static List<BlockPlacement> sorted(List<BlockPlacement> placements) {
        return placements.stream().sorted(ORDER).toList();
    }

    private static Batch batch(BlockKey block) {
        return new Batch(block.namespace(), block.key().unshared(), block.key().size(), new int[] {0}, 0, 1);
    }

    private static Found where(PlacementIndex index, BlockKey block) {
        return index.where(batch(block)).orElseThrow().getFirst();
    }

    private static Presence exist(PlacementIndex index, BlockKey block) {
        byte[] answers = new byte[1];
        index.exist(batch(block), answers);
        return Presence.of(answers[0]);
    }

    private static BlockKey block(int number) {
        return new BlockKey(NAMESPACE, Bytes.ofHex("%032x".formatted(number)));
    }

    private static BlockPlacement host(String node, long incarnation) {
        return new BlockPlacement(new Location("node/" + node, Tier.HOST), incarnation, 3, 9);
    }

    @Test
    void aBatchIsAnsweredAtTheNumbersOfItsKeys() {
        try (PlacementIndex index = new PlacementIndex(IndexLimits.DEFAULTS, new Incarnations())) {
            index.put(block(1), host("a", 1));
            index.put(block(3), host("a", 1));
            byte[] keys = new byte[5 * 16];
            IntStream.range(0, 5).forEach(i -> System.arraycopy(block(i).key().unshared(), 0, keys, i * 16, 16));
            byte[] answers = new byte[5];

            index.exist(new Batch(NAMESPACE, keys, 16, new int[] {4, 3, 1, 0}, 1, 4), answers);

            // Numbers 3, 1 and 0 were asked for.
            assertEquals("[2, 1, 0, 1, 0]", Arrays.toString(answers));
            assertEquals(List.of(Presence.FOUND, Presence.NOT_FOUND),
                    index.where(new Batch(NAMESPACE, keys, 16, new int[] {3, 2}, 0, 2)).orElseThrow().stream().map(Found::presence).toList());
        }
    }

    @Test
    void aLaterIncarnationOfANodeEndsWhatTheEarlierHeldInEveryPartition() {
        Incarnations shared = new Incarnations();
        try (PlacementIndex one = new PlacementIndex(IndexLimits.DEFAULTS, shared);
                PlacementIndex other = new PlacementIndex(IndexLimits.DEFAULTS, shared)) {
            one.put(block(1), host("a", 1));
            one.put(block(1), host("b", 1));
            one.put(block(2), host("a", 1));
            other.put(block(3), host("a", 2));

            assertEquals(List.of(host("b", 1)), where(one, block(1)).placements());
            assertEquals(Presence.NOT_FOUND, exist(one, block(2)));
            assertEquals(Presence.FOUND, exist(other, block(3)));
            // Late records of the earlier incarnation change nothing, and those of the later one count.
            one.put(block(2), host("a", 1));
            assertEquals(Presence.NOT_FOUND, exist(one, block(2)));
            one.put(block(2), host("a", 2));
            assertEquals(Presence.FOUND, exist(one, block(2)));
        }
    }

    @Test
    void whatCannotBeReadIsUnknownUntilTheNextRecordOfItsLocation() {
        try (PlacementIndex index = new PlacementIndex(IndexLimits.DEFAULTS, new Incarnations())) {
            Location host = host("a", 1).location();
            index.unreadable(block(1), host);
            assertEquals(Presence.UNKNOWN, exist(index, block(1)));
            assertEquals(Presence.NOT_FOUND, exist(index, block(2)));
            index.put(block(1), host("b", 1));
            assertEquals(Presence.FOUND, exist(index, block(1)), "it serves elsewhere");
            index.remove(block(1), host("b", 1).location());
            assertEquals(Presence.UNKNOWN, exist(index, block(1)));
            index.remove(block(1), host);
            assertEquals(Presence.NOT_FOUND, exist(index, block(1)));
        }
    }

    @Test
    void aFullIndexRefusesAndAnswersUnknownFromThenOn() {
        try (PlacementIndex index = new PlacementIndex(new IndexLimits(2, 3, 1, 2), new Incarnations())) {
            assertEquals(Taken.ADDED, index.put(block(1), host("a", 1)));
            assertEquals(Taken.ADDED, index.put(block(2), host("a", 1)));
            assertEquals(Taken.ADDED, index.put(block(1), host("b", 1)));
            assertEquals(Taken.REPLACED, index.put(block(1), host("b", 1)), "a replacement needs no space");
            assertEquals("", index.refusal().orElse(""));

            assertEquals(Taken.FULL, index.put(block(2), host("b", 1)));

            assertEquals("the index holds 3 placements, which is its bound", index.refusal().orElseThrow());
            assertEquals(Presence.UNKNOWN, exist(index, block(9)));
            assertEquals(Presence.UNKNOWN, where(index, block(9)).presence());
        }
        assertEquals("2 blocks", bound(new IndexLimits(2, 9, 9, 9), block(1), block(2), block(3)));
        BlockKey elsewhere = new BlockKey(Namespaces.digest("model/b"), block(1).key());
        assertEquals("1 namespaces", bound(new IndexLimits(9, 9, 1, 9), block(1), block(2), elsewhere));
        try (PlacementIndex index = new PlacementIndex(new IndexLimits(9, 9, 9, 1), new Incarnations())) {
            index.put(block(1), host("a", 1));
            assertEquals(Taken.FULL, index.put(block(1), host("a", 2)));
            assertTrue(index.refusal().orElseThrow().contains("1 locations by incarnation"));
        }
    }

    /** Which bound the last of the blocks is over. */
    private static String bound(IndexLimits limits, BlockKey... blocks) {
        try (PlacementIndex index = new PlacementIndex(limits, new Incarnations())) {
            for (BlockKey block : blocks) {
                index.put(block, host("a", 1));
            }
            return index.refusal().orElseThrow().replaceAll("the index holds (.*), which is its bound", "$1");
        }
    }

    @Test
    void freedSpaceIsUsedAgain() {
        try (PlacementIndex index = new PlacementIndex(IndexLimits.DEFAULTS, new Incarnations())) {
            for (int round = 0; round < 50; round++) {
                for (int i = 0; i < 10_000; i++) {
                    index.put(block(round * 10_000 + i), host("a", 1));
                }
                for (int i = 0; i < 10_000; i++) {
                    index.remove(block(round * 10_000 + i), host("a", 1).location());
                }
            }
            assertEquals(0, index.size().blocks());
            // 16,384 cells of 64 bytes and 16,384 slots of 8.
            assertEquals(16_384 * (64 + 8), index.size().bytes());
        }
    }

    /** A reader sees a pair of blocks before, between or after two changes, and never what was not there. */
    @Test
    void readersSeeWholeRecordsWhileTheTableGrows() throws Exception {
        try (PlacementIndex index = new PlacementIndex(IndexLimits.DEFAULTS, new Incarnations())) {
            index.put(block(0), host("a", 1));
            AtomicBoolean ended = new AtomicBoolean();
            List<String> wrong = new ArrayList<>();
            Thread reader = Thread.ofPlatform().start(() -> {
                while (!ended.get()) {
                    if (exist(index, block(0)) != Presence.FOUND || exist(index, block(-1)) != Presence.NOT_FOUND) {
                        wrong.add("block 0 was gone, or block -1 was there");
                    }
                }
            });
            for (int i = 1; i < 200_000; i++) {
                index.put(block(i), host("a", 1));
                if (i % 3 == 0) {
                    index.remove(block(i - 1), host("a", 1).location());
                }
            }
            ended.set(true);
            reader.join();
            assertEquals(List.of(), wrong);
        }
    }

    @Test
    void afterItsEndItAnswersNothing() {
        PlacementIndex index = new PlacementIndex(IndexLimits.DEFAULTS, new Incarnations());
        index.put(block(1), host("a", 1));
        index.close();
        index.close();
        byte[] answers = new byte[1];
        assertFalse(index.exist(batch(block(1)), answers));
        assertEquals(0, answers[0]);
        assertTrue(index.where(batch(block(1))).isEmpty());
    }

    @Test
    void noKeyIsTooShortOrTooLong() {
        assertThrows(IllegalArgumentException.class, () -> new BlockKey(NAMESPACE, Bytes.copyOf(new byte[7])));
        assertThrows(IllegalArgumentException.class, () -> new BlockKey(NAMESPACE, Bytes.copyOf(new byte[33])));
        assertThrows(IllegalArgumentException.class, () -> new KeyWords().set(new byte[40], 0, 33));
        assertThrows(IllegalArgumentException.class, () -> new IndexLimits(0, 1, 1, 1));
    }
}
