/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.engine.workload.BlockKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class DevicePoolTest {
    private static final int BLOCK_BYTES = 64;
    private static final ContentOracle ORACLE = new ContentOracle("model");

    @TempDir
    private Path directory;

    private DevicePool pool(int pages, boolean retention) throws IOException {
        return new DevicePool(new DevicePool.Plan(directory, "test", pages, BLOCK_BYTES, retention));
    }

    /** Keys of the prompt first .. first + count - 1; a chain when it begins at 0. */
    private static List<BlockKey> keys(long... ids) {
        return LongStream.of(ids).mapToObj(BlockKey::of).toList();
    }

    private static BlockTable.Demand demand(String owner, List<BlockKey> keys, int pages) {
        return new BlockTable.Demand(owner, 0, keys, keys.size(), pages);
    }

    private static BlockTable acquire(DevicePool pool, BlockTable.Demand demand) throws InterruptedException {
        return pool.acquire(pool.enqueue(), demand);
    }

    private static BlockTable compute(DevicePool pool, BlockTable.Demand demand) throws InterruptedException {
        BlockTable blocks = acquire(pool, demand);
        for (int i = blocks.matched(); i < demand.keys().size(); i++) {
            pool.fill(blocks, i, ORACLE, demand.keys().get(i));
        }
        pool.publish(blocks, demand.keys());
        return blocks;
    }

    private static void assertContent(DevicePool pool, BlockTable blocks, List<BlockKey> keys) {
        for (int i = 0; i < keys.size(); i++) {
            DevicePool.Expected expected = new DevicePool.Expected(ORACLE, keys.get(i), DevicePool.ANY_EPOCH);
            assertEquals(OptionalLong.of(ContentOracle.EQUAL), pool.compare(blocks, i, expected));
        }
    }

    @Test
    void aSecondRequestMatchesThePublishedPrefixAndSharesItsPages() throws Exception {
        try (DevicePool pool = pool(10, true)) {
            BlockTable first = compute(pool, demand("r1", keys(1, 2, 3), 4));
            BlockTable second = acquire(pool, demand("r2", keys(1, 2, 9), 4));
            assertEquals(2, second.matched());
            assertEquals(first.page(1), second.page(1));
            // 4 of r1, and 2 more of r2.
            assertEquals(4, pool.usage().free());
            pool.release(first);
            pool.release(second);
            assertEquals(new DevicePool.Usage(7, 3, 0), pool.usage());
            pool.validate();
        }
    }

    @Test
    void equalKeysOfDifferentTenantsAreDifferentBlocks() throws Exception {
        try (DevicePool pool = pool(10, true)) {
            pool.release(compute(pool, demand("r1", keys(1, 2), 2)));
            assertEquals(0, acquire(pool, new BlockTable.Demand("r2", 1, keys(1, 2), 2, 2)).matched());
        }
    }

    @Test
    void theColdestPrefixIsTrimmedFromItsEnd() throws Exception {
        try (DevicePool pool = pool(6, true)) {
            BlockTable old = compute(pool, demand("r1", keys(1, 2, 3), 3));
            pool.tell(old, keys(1, 2, 3), pool.epoch());
            pool.release(old);
            pool.release(compute(pool, demand("r2", keys(7, 8), 2)));
            pool.release(acquire(pool, demand("r3", keys(), 3)));
            // One page was free, so two blocks had to go: the last two of the colder prefix, the deeper one first.
            assertEquals(List.of(2, 1), pool.takeEvicted().stream().map(EvictedPage::index).toList());
            assertEquals(1, acquire(pool, demand("r4", keys(1, 2, 3), 3)).matched());
        }
    }

    @Test
    void twoThatComputeTheSameBlocksEndWithOneCopy() throws Exception {
        try (DevicePool pool = pool(10, true)) {
            BlockTable first = acquire(pool, demand("r1", keys(1, 2), 2));
            BlockTable second = compute(pool, demand("r2", keys(1, 2), 2));
            pool.fill(first, 0, ORACLE, BlockKey.of(1));
            pool.fill(first, 1, ORACLE, BlockKey.of(2));
            pool.publish(first, keys(1, 2));
            assertEquals(second.page(1), first.page(1));
            assertEquals(8, pool.usage().free());
            pool.release(first);
            pool.release(second);
            pool.validate();
        }
    }

    @Test
    void aRequestWaitsForReleasedPagesAndNotForLess() throws Exception {
        try (DevicePool pool = pool(4, true)) {
            BlockTable first = compute(pool, demand("r1", keys(1, 2), 2));
            pool.hold("r1/1", List.of(first.page(0), first.page(1)), pool.epoch());
            pool.release(first);
            DevicePool.Ticket ticket = pool.enqueue();
            FutureTask<BlockTable> waiting = new FutureTask<>(() -> pool.acquire(ticket, demand("r2", keys(5, 6, 7), 4)));
            Thread thread = Thread.ofVirtual().start(waiting);
            assertEquals(1, pool.released("r1/1", List.of(first.page(1), 99), pool.epoch()));
            thread.join(java.time.Duration.ofMillis(50));
            assertFalse(waiting.isDone());
            assertEquals(0, pool.released("r1/1", List.of(first.page(0)), pool.epoch() + 1), "another epoch");
            assertEquals(1, pool.released("r1/1", List.of(first.page(0)), pool.epoch()));
            assertEquals(0, waiting.get().matched());
        }
    }

    @Test
    void theShadowRefusesAPageThatHasAnOwner() {
        ShadowOwners shadow = new ShadowOwners();
        shadow.give(3, "r1");
        shadow.add(3, "r1/1");
        shadow.remove(3, "r1");
        assertThrows(IllegalStateException.class, () -> shadow.give(3, "r2"));
        assertThrows(IllegalStateException.class, () -> shadow.remove(3, "r2"));
        shadow.remove(3, "r1/1");
        shadow.give(3, "r2");
        assertEquals(1, shadow.owned());
    }

    @Test
    void aLostSessionLeavesTheOldFileAsItWas() throws Exception {
        try (DevicePool pool = pool(4, true)) {
            BlockTable first = compute(pool, demand("r1", keys(1, 2), 2));
            long epoch = pool.epoch();
            assertEquals(2, pool.tell(first, keys(1, 2), epoch).size());
            assertEquals(0, pool.tell(first, keys(1, 2), epoch).size());
            pool.hold("r1/1", List.of(first.page(0), first.page(1)), epoch);
            Path before = pool.path();
            pool.detach();
            assertNotEquals(before, pool.path());
            assertFalse(Files.exists(before));
            assertEquals(0, pool.usage().held());
            assertContent(pool, first, keys(1, 2));
            assertEquals(OptionalLong.empty(), pool.compare(first, 0, new DevicePool.Expected(ORACLE, BlockKey.of(1), epoch)));
            // The new session has to receive them again; the old one can neither hold nor release.
            assertEquals(2, pool.tell(first, keys(1, 2), pool.epoch()).size());
            pool.hold("r1/2", List.of(first.page(0)), epoch);
            assertEquals(0, pool.usage().held());
            pool.release(first);
            pool.validate();
        }
    }

    /** A run of random calls against a simple model: what each running request must find in its pages, and what the agent may still read. */
    @ParameterizedTest
    @CsvSource({"1,true", "2,true", "3,true", "4,false", "5,false"})
    void theBooksHoldUnderARandomWalk(long seed, boolean retention) throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        try (DevicePool pool = pool(40, retention)) {
            List<BlockTable> running = new ArrayList<>();
            Map<String, Map<Integer, Long>> held = new HashMap<>();
            int started = 0;
            int evicted = 0;
            int matched = 0;
            for (int step = 0; step < 20_000; step++) {
                switch (random.nextInt(10)) {
                    case 0, 1, 2, 3 -> {
                        List<BlockKey> keys = chain(random);
                        BlockTable.Demand demand = demand("r" + started++, keys, keys.size() + random.nextInt(2));
                        if (fits(pool, running, held, demand)) {
                            BlockTable blocks = compute(pool, demand);
                            matched += blocks.matched();
                            assertContent(pool, blocks, keys);
                            running.add(blocks);
                        }
                    }
                    case 4, 5, 6 -> {
                        if (!running.isEmpty()) {
                            BlockTable blocks = running.remove(random.nextInt(running.size()));
                            assertContent(pool, blocks, blocks.demand().keys());
                            finish(pool, blocks, held);
                        }
                    }
                    case 7, 8 -> release(pool, held, random);
                    default -> {
                        if (random.nextInt(40) == 0) {
                            pool.detach();
                            held.clear();
                        }
                    }
                }
                pool.validate();
                evicted += pool.takeEvicted().size();
                assertEquals(held.values().stream().mapToInt(Map::size).sum(), pool.usage().held(), "seed " + seed + ", step " + step);
            }
            assertTrue(started > 1_000 && evicted > 100, () -> "seed " + seed);
            assertEquals(retention, matched > 100);
        }
    }

    private static List<BlockKey> chain(SplittableRandom random) {
        long[] ids = new long[random.nextInt(1, 7)];
        for (int i = 0; i < ids.length; i++) {
            // A tree with two children each: block i is named by the path to it.
            ids[i] = 2 * (i == 0 ? 1 : ids[i - 1]) + random.nextInt(2);
        }
        return keys(ids);
    }

    /** Whether there are enough pages even if nothing matches, so that the walk never waits: pages in use or held, and all pages above a held one. */
    private static boolean fits(
            DevicePool pool, List<BlockTable> running, Map<String, Map<Integer, Long>> held, BlockTable.Demand demand) {
        Set<Integer> busy = new HashSet<>();
        running.forEach(blocks -> {
            for (int i = 0; i < blocks.demand().pages(); i++) {
                busy.add(blocks.page(i));
            }
        });
        int above = held.values().stream().mapToInt(pages -> pages.size() * 6).sum();
        return busy.size() + above + demand.pages() <= pool.pages();
    }

    private static void finish(DevicePool pool, BlockTable blocks, Map<String, Map<Integer, Long>> held) {
        Map<Integer, Long> pages = new HashMap<>();
        pool.tell(blocks, blocks.demand().keys(), pool.epoch()).forEach(block -> pages.put(block.page(), block.generation()));
        if (!pages.isEmpty()) {
            String attempt = blocks.demand().owner() + "/1";
            pool.hold(attempt, List.copyOf(pages.keySet()), pool.epoch());
            held.put(attempt, pages);
        }
        pool.release(blocks);
    }

    private static void release(DevicePool pool, Map<String, Map<Integer, Long>> held, SplittableRandom random) {
        if (!held.isEmpty()) {
            String attempt = held.keySet().stream().sorted().toList().get(random.nextInt(held.size()));
            Map<Integer, Long> pages = held.get(attempt);
            if (pages != null) {
                Integer page = pages.keySet().iterator().next();
                assertEquals(1, pool.released(attempt, List.of(page), pool.epoch()));
                pages.remove(page);
                if (pages.isEmpty()) {
                    held.remove(attempt);
                }
            }
        }
    }
}
