/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Many threads on the same few blocks: whatever is read is right, and the accounts close. And what a block held costs in memory. */
class ConcurrentUseTest {
    private static final int KEYS = 30;
    private static final Set<OperationReason> EXPECTED = Set.of(OperationReason.NOT_FOUND, OperationReason.NO_ROOM);

    @Test
    void manyThreadsReadWhatWasWrittenAndTheAccountsClose() throws Exception {
        SegmentIo disk = Blocks.memory();
        BlockFile file = Blocks.open(disk);
        List<Callable<Integer>> users = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Random random = new Random(i);
            users.add(() -> use(file, random));
        }
        users.add(() -> {
            int blocks = 0;
            for (int i = 0; i < 2_000; i++) {
                blocks += file.compact().blocks();
            }
            return blocks;
        });
        int served = 0;
        try (ExecutorService threads = Executors.newFixedThreadPool(users.size())) {
            for (Future<Integer> use : threads.invokeAll(users)) {
                served += use.get();
            }
        }
        DiskStatus status = file.status();
        assertTrue(served > 100, "served " + served);
        assertEquals(0, status.count(DiskCounter.CONDEMNED));
        assertEquals((long) status.blocks() * Blocks.RECORD, status.liveBytes());
        assertEquals(status.count(DiskCounter.BLOCKS_WRITTEN) - status.count(DiskCounter.BLOCKS_DROPPED), status.blocks());
        for (int seed = 0; seed < KEYS; seed++) {
            Blocks.drop(file, seed);
        }
        assertEquals(0, file.status().liveBytes());
        assertTrue(file.status().segments() <= 1, "segments go: " + file.status());
        file.close();
        assertEquals(List.of(), disk.list(), "nothing is left");
    }

    private static int use(BlockFile file, Random random) {
        int served = 0;
        for (int i = 0; i < 2_000; i++) {
            int seed = random.nextInt(KEYS);
            switch (random.nextInt(4)) {
                case 0 -> check(List.of(Blocks.drop(file, seed)));
                case 1 -> check(file.write(Blocks.MODEL, List.of(Blocks.block(seed), Blocks.block(random.nextInt(KEYS)))));
                default -> {
                    MemorySegment page = Blocks.page();
                    DiskResult result = Blocks.read(file, seed, page);
                    check(List.of(result));
                    if (result.isDone()) {
                        served++;
                        assertTrue(Arrays.equals(Blocks.bytes(Blocks.content(seed, Blocks.BLOCK)), Blocks.bytes(page)), "wrong bytes");
                    }
                }
            }
        }
        return served;
    }

    private static void check(List<DiskResult> results) {
        for (DiskResult result : results) {
            assertTrue(result.status() != BlockStatus.FAILED || EXPECTED.contains(result.reason()), result.toString());
        }
    }

    @Test
    void aBlockTakesNoMoreMemoryThanDocumented() throws IOException {
        int blocks = 200_000;
        Segments segments = new Segments(Blocks.memory(), Blocks.limits(), new DiskCounters());
        BlockTable table = new BlockTable(segments, Blocks.limits().with(new DiskLimits.Blocks(blocks, Blocks.BLOCK, 200, 10)));
        Segment segment = new Segment(1, Blocks.memory().create(1, Blocks.SEGMENT), Segment.State.SEALED, Blocks.SEGMENT);
        long before = heapBytes();
        for (int i = 0; i < blocks; i++) {
            BlockName name = new BlockName(Namespace.of("model").digest(), longKey(i));
            assertEquals(new BlockTable.Claim.Granted(), table.claim(name));
            table.publish(name, new BlockTable.Entry(segment, (long) i * Blocks.RECORD, i, Blocks.BLOCK, i));
        }
        long perBlock = (heapBytes() - before) / blocks;
        assertEquals(blocks, table.size());
        assertTrue(perBlock <= DiskLimits.BYTES_PER_BLOCK, "bytes per block: " + perBlock);
        assertTrue(perBlock > 100, "measured nothing: " + perBlock);
    }

    private static Bytes longKey(int i) {
        return Bytes.ofHex("%064x".formatted(i));
    }

    private static long heapBytes() {
        var memory = ManagementFactory.getMemoryMXBean();
        memory.gc();
        memory.gc();
        return memory.getHeapMemoryUsage().getUsed();
    }
}
