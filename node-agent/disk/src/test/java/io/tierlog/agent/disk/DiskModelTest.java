/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.disk.BlockWrite.Position;
import io.tierlog.agent.disk.FaultySegmentIo.Fault;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A tier against a map: random writes, reads, drops, compaction, faults, restarts and losses of power. Every write has contents of its own, so
 * bytes of another write of the same key are detected. Nothing wrong is ever read; what must be there is there.
 *
 * <p>One seed by hand: {@code -Dtierlog.disk.seed=N}.
 */
class DiskModelTest {
    private static final int KEYS = 60;
    private static final int STEPS = 400;
    private static final int SEEDS = 40;
    private static final Fault[] FAULTS = {
        Fault.SHORT_WRITE,
        Fault.LOST_TAIL,
        Fault.TORN_WRITE,
        Fault.BIT_FLIP,
        Fault.INTERRUPTED_WRITE,
        Fault.NO_SPACE,
        Fault.WRITE_ERROR,
        Fault.MISDIRECTED,
        Fault.FORCE_FAILS
    };

    @ParameterizedTest
    @EnumSource
    void nothingWrongIsReadAndNothingForcedIsLost(ForcePolicy policy) throws IOException {
        Long only = Long.getLong("tierlog.disk.seed");
        for (long seed = only == null ? 0 : only; seed < (only == null ? SEEDS : only + Long.getLong("tierlog.seeds", 1)); seed++) {
            try {
                new World(seed, policy).run();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(policy + ", again with -Dtest=DiskModelTest -Dtierlog.disk.seed=" + seed, e);
            }
        }
    }

    /** One process after the other with one tier. */
    private static final class World {
        private final Random random;
        private final DiskLimits limits;
        private final MemorySegmentIo disk = new MemorySegmentIo(Blocks.ALIGN, 1L << 30);
        private FaultySegmentIo io = new FaultySegmentIo(disk);
        private BlockFile file;
        /** Every generation ever acknowledged, with its bytes. */
        private final Map<Long, byte[]> written = new LinkedHashMap<>();
        /** What must be there now. */
        private final Map<Bytes, Long> held = new LinkedHashMap<>();
        /** Keys that may be there or not: the disk has lied about them, or power was lost since they were dropped. */
        private final Set<Bytes> suspect = new LinkedHashSet<>();
        /** Set when a segment may be full and not forced although it should be. */
        private boolean forceFailed;
        private int salt;

        World(long seed, ForcePolicy policy) throws IOException {
            random = new Random(seed);
            limits = Blocks.limits().with(policy);
            file = Blocks.open(io, limits);
        }

        void run() throws IOException {
            for (int step = 0; step < STEPS; step++) {
                switch (random.nextInt(20)) {
                    case 0 -> restart();
                    case 1 -> loseThePower();
                    case 2, 3 -> file.compact();
                    case 4, 5, 6, 7 -> drop();
                    case 8, 9, 10, 11 -> read(Blocks.key(random.nextInt(KEYS)));
                    case 12 -> writeOnABadDisk();
                    default -> write();
                }
            }
            restart();
            for (int i = 0; i < KEYS; i++) {
                read(Blocks.key(i));
            }
            file.close();
        }

        /** Writes a random batch; returns the keys that arrived. */
        private List<Bytes> write() {
            List<BlockWrite> batch = new ArrayList<>();
            for (int i = random.nextInt(4); i >= 0; i--) {
                // Some contents are aligned, some not, some in pieces.
                MemorySegment bytes = Blocks.content(++salt, random.nextBoolean() ? Blocks.BLOCK : 5_000);
                int cut = random.nextBoolean() ? 0 : 1 + random.nextInt(4_000);
                List<MemorySegment> pieces = cut == 0 ? List.of(bytes) : List.of(bytes.asSlice(0, cut), bytes.asSlice(cut));
                Bytes key = Blocks.key(random.nextInt(KEYS));
                batch.add(new BlockWrite(key, new Position(i, Bytes.EMPTY, key), pieces, Checksums.crc32c(pieces)));
            }
            List<DiskResult> results = file.write(Blocks.MODEL, batch);
            List<Bytes> arrived = new ArrayList<>();
            for (int i = 0; i < results.size(); i++) {
                check(batch.get(i), results.get(i), arrived);
            }
            return arrived;
        }

        private void check(BlockWrite block, DiskResult result, List<Bytes> arrived) {
            boolean mayBeThere = held.containsKey(block.key()) || suspect.contains(block.key());
            switch (result.reason()) {
                case COMPLETED -> {
                    if (result.status() == BlockStatus.ALREADY_THERE) {
                        assertTrue(mayBeThere, "there without a write: " + block.key());
                    } else {
                        assertTrue(!held.containsKey(block.key()), "written again although it is held: " + block.key());
                        assertTrue(written.put(result.generation(), whole(block.bytes())) == null, "generation given twice");
                        held.put(block.key(), result.generation());
                        arrived.add(block.key());
                    }
                }
                case UNSUPPORTED -> assertTrue(mayBeThere, "of another length without a write: " + block.key());
                case NO_ROOM -> assertTrue(result.detail().contains("drop blocks") || result.detail().contains("injected"), result.detail());
                default -> assertTrue(result.detail().contains("injected"), result.toString());
            }
        }

        private void writeOnABadDisk() {
            Fault fault = FAULTS[random.nextInt(FAULTS.length)];
            for (int i = random.nextInt(4); i > 0; i--) {
                io.inject(Fault.NONE_WRITE);
            }
            io.inject(fault);
            List<Bytes> arrived = write();
            io.calm();
            switch (fault) {
                case LOST_TAIL, BIT_FLIP -> doubt(arrived);
                case MISDIRECTED -> doubt(List.copyOf(held.keySet())); // it may hit any block
                case FORCE_FAILS -> forceFailed = true;
                default -> {}
            }
        }

        private void doubt(List<Bytes> keys) {
            held.keySet().removeAll(keys);
            suspect.addAll(keys);
        }

        private void drop() {
            Bytes key = Blocks.key(random.nextInt(KEYS));
            long generation = held.getOrDefault(key, 0L);
            DiskResult result = file.drop(Blocks.MODEL, List.of(new BlockDrop(key, generation))).getFirst();
            if (held.remove(key) != null) {
                assertEquals(BlockStatus.GONE, result.status(), result.detail());
            }
        }

        private void read(Bytes key) {
            for (int length : new int[] {Blocks.BLOCK, 5_000}) {
                MemorySegment into = Blocks.content(0, length);
                DiskResult result = file.read(Blocks.MODEL, List.of(new BlockRead(key, 0, List.of(into)))).getFirst();
                if (result.isDone()) {
                    byte[] wanted = written.get(result.generation());
                    assertTrue(wanted == null || Arrays.equals(wanted, Blocks.bytes(into)), "wrong bytes under " + key);
                    assertTrue(wanted != null || suspect.contains(key), "bytes that no write put under " + key);
                    assertTrue(!held.containsKey(key) || held.get(key) == result.generation(), "an older generation of " + key);
                    return;
                }
                if (result.reason() != OperationReason.UNSUPPORTED) {
                    assertTrue(!held.containsKey(key), "lost: " + key + " " + held.get(key) + " " + result);
                }
            }
        }

        /** The process ends in order and begins again. */
        private void restart() throws IOException {
            file.close();
            reopen();
        }

        /** Whatever was not forced may be there, or torn, or not; blocks that were dropped may come back. */
        private void loseThePower() throws IOException {
            if (limits.force() == ForcePolicy.PER_SEGMENT) {
                file.close(); // what a closed tier holds is forced
            }
            if (limits.force() == ForcePolicy.NEVER || (limits.force() == ForcePolicy.PER_SEGMENT && forceFailed)) {
                held.clear();
            }
            for (int i = 0; i < KEYS; i++) {
                suspect.add(Blocks.key(i));
            }
            disk.crash(random);
            reopen();
        }

        private void reopen() throws IOException {
            io = new FaultySegmentIo(disk);
            file = Blocks.open(io, limits);
            assertTrue(file.status().blocks() >= held.size(), "blocks " + file.status().blocks() + ", must be " + held);
            assertTrue(file.status().fileBytes() <= limits.space().capacityBytes(), file.status().toString());
        }

        private static byte[] whole(List<MemorySegment> pieces) {
            byte[] bytes = new byte[pieces.stream().mapToInt(piece -> (int) piece.byteSize()).sum()];
            int at = 0;
            for (MemorySegment piece : pieces) {
                byte[] part = Blocks.bytes(piece);
                System.arraycopy(part, 0, bytes, at, part.length);
                at += part.length;
            }
            return bytes;
        }
    }
}
