/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.CopiesEnded;
import io.tierlog.agent.core.api.AgentInput.DiskUnitEnded;
import io.tierlog.agent.core.api.AgentInput.StoreProbed;
import io.tierlog.agent.core.api.AgentInput.StoreUnitEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.DeviceCopies;
import io.tierlog.agent.core.port.DiskTransfers;
import io.tierlog.agent.core.port.DiskTransfers.DiskObject;
import io.tierlog.agent.core.port.DiskTransfers.PageRead;
import io.tierlog.agent.core.port.DiskTransfers.PageWrite;
import io.tierlog.agent.core.port.StoreTransfers;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * Device, host pool and store as real bytes, with units that end when and how a test wants. A shadow map of which unit writes and reads which
 * page is checked at every unit: no page is written by two, or read and written at once.
 */
final class FakePorts implements DeviceCopies, StoreTransfers {
    static final int BLOCK_BYTES = 64;
    /** Generation of every object in the store. */
    static final long OBJECT_GENERATION = 7;

    enum Kind {
        LOAD,
        SAVE,
        READ,
        WRITE,
        PROBE,
        DISK_WRITE,
        DISK_READ,
        DISK_DROP;

        boolean ofDisk() {
            return this == DISK_WRITE || this == DISK_READ || this == DISK_DROP;
        }
    }

    /** What a unit of the disk does; one of the three. */
    record OnDisk(List<PageWrite> writes, List<PageRead> reads, List<DiskObject> drops) {
        static final OnDisk NOTHING = new OnDisk(List.of(), List.of(), List.of());

        int size() {
            return writes.size() + reads.size() + drops.size();
        }
    }

    /** A unit under way. */
    record Unit(
            long id, Kind kind, String namespace, List<PageCopy> copies, List<PageObject> objects, List<Bytes> keys, OnDisk disk) {
        int size() {
            return copies.size() + objects.size() + disk.size();
        }
    }

    final byte[][] device;
    final byte[][] host;
    final Map<String, byte[]> store;
    final FakeDisk disk;
    final List<Unit> units = new ArrayList<>();
    /** Probes whose answer the agent no longer needs. */
    final List<Long> cancelledProbes = new ArrayList<>();
    boolean storeReachable = true;
    /** How often the engine's memory was let go. */
    int detached;

    /** The store and the disk outlive the agent. */
    FakePorts(int devicePages, int hostPages, Map<String, byte[]> store, FakeDisk disk) {
        this.store = store;
        this.disk = disk;
        device = new byte[devicePages][BLOCK_BYTES];
        host = new byte[hostPages][BLOCK_BYTES];
    }

    // --- content

    static byte[] content(String namespace, Bytes key) {
        byte[] content = new byte[BLOCK_BYTES];
        byte[] seed = Prompt.sha256((namespace + key.hex()).getBytes(java.nio.charset.StandardCharsets.UTF_8));
        for (int i = 0; i < BLOCK_BYTES; i++) {
            content[i] = (byte) (seed[i % seed.length] + i);
        }
        return content;
    }

    static int crc(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }

    void put(Prompt prompt, int from, int to) {
        for (int i = from; i < to; i++) {
            store.put(name(prompt.namespace(), prompt.keys().get(i)), content(prompt.namespace(), prompt.keys().get(i)));
        }
    }

    static String name(String namespace, Bytes key) {
        return namespace + "/" + key.hex();
    }

    // --- ports

    @Override
    public void save(long unit, List<PageCopy> copies) {
        add(new Unit(unit, Kind.SAVE, "", copies, List.of(), List.of(), OnDisk.NOTHING));
    }

    @Override
    public void load(long unit, List<PageCopy> copies) {
        add(new Unit(unit, Kind.LOAD, "", copies, List.of(), List.of(), OnDisk.NOTHING));
    }

    @Override
    public void detach() {
        detached++;
    }

    @Override
    public void probe(long unit, String namespace, List<Bytes> keys) {
        units.add(new Unit(unit, Kind.PROBE, namespace, List.of(), List.of(), List.copyOf(keys), OnDisk.NOTHING));
    }

    /** Deletions under way, in order; a test ends them itself. */
    final List<Deletes> deletes = new ArrayList<>();

    /** A unit that deletes objects. */
    record Deletes(long unit, String namespace, List<StoredObject> objects) {}

    @Override
    public void delete(long unit, String namespace, List<StoredObject> objects) {
        deletes.add(new Deletes(unit, namespace, objects));
    }

    @Override
    public void cancelProbe(long unit) {
        cancelledProbes.add(unit);
    }

    @Override
    public void read(long unit, String namespace, List<PageObject> objects) {
        add(new Unit(unit, Kind.READ, namespace, List.of(), objects, List.of(), OnDisk.NOTHING));
    }

    @Override
    public void write(long unit, String namespace, List<PageObject> objects) {
        add(new Unit(unit, Kind.WRITE, namespace, List.of(), objects, List.of(), OnDisk.NOTHING));
    }

    /** The port to the disk; of the same names as the store's, so a class of its own. */
    final DiskTransfers diskPort = new DiskTransfers() {
        @Override
        public void write(long unit, String namespace, List<PageWrite> blocks) {
            add(new Unit(unit, Kind.DISK_WRITE, namespace, List.of(), List.of(), List.of(), new OnDisk(blocks, List.of(), List.of())));
        }

        @Override
        public void read(long unit, String namespace, List<PageRead> blocks) {
            add(new Unit(unit, Kind.DISK_READ, namespace, List.of(), List.of(), List.of(), new OnDisk(List.of(), blocks, List.of())));
        }

        @Override
        public void drop(long unit, String namespace, List<DiskObject> copies) {
            add(new Unit(unit, Kind.DISK_DROP, namespace, List.of(), List.of(), List.of(), new OnDisk(List.of(), List.of(), copies)));
        }
    };

    private void add(Unit unit) {
        for (Unit other : units) {
            assertTrue(disjoint(writes(unit), writes(other)), () -> unit + " writes what " + other + " writes");
            assertTrue(disjoint(reads(unit), writes(other)), () -> unit + " reads what " + other + " writes");
            assertTrue(disjoint(writes(unit), reads(other)), () -> unit + " writes what " + other + " reads");
        }
        List<String> own = writes(unit);
        assertEquals(own.size(), own.stream().distinct().count(), () -> unit + " writes a page twice");
        units.add(unit);
    }

    private static boolean disjoint(List<String> a, List<String> b) {
        return a.stream().noneMatch(b::contains);
    }

    private static List<String> writes(Unit unit) {
        return switch (unit.kind) {
            case LOAD -> unit.copies.stream().map(copy -> "device" + copy.devicePage()).toList();
            case SAVE -> unit.copies.stream().map(copy -> "host" + copy.hostPage()).toList();
            case READ -> unit.objects.stream().map(object -> "host" + object.hostPage()).toList();
            case DISK_READ -> unit.disk.reads.stream().map(one -> "host" + one.hostPage()).toList();
            // One writer of a key at a time, and none while its bytes are dropped.
            case DISK_WRITE -> unit.disk.writes.stream().map(one -> name(unit.namespace, one.key())).toList();
            case DISK_DROP -> unit.disk.drops.stream().map(one -> name(unit.namespace, one.key())).toList();
            case WRITE, PROBE -> List.of();
        };
    }

    private static List<String> reads(Unit unit) {
        return switch (unit.kind) {
            case LOAD -> unit.copies.stream().map(copy -> "host" + copy.hostPage()).toList();
            case SAVE -> unit.copies.stream().map(copy -> "device" + copy.devicePage()).toList();
            case WRITE -> unit.objects.stream().map(object -> "host" + object.hostPage()).toList();
            case DISK_WRITE -> unit.disk.writes.stream().map(one -> "host" + one.hostPage()).toList();
            case DISK_READ -> unit.disk.reads.stream().map(one -> name(unit.namespace, one.key())).toList();
            case READ, PROBE, DISK_DROP -> List.of();
        };
    }

    /** True when a unit under way writes to or reads from the device page. */
    boolean deviceBusy(int page) {
        return units.stream().anyMatch(unit -> writes(unit).contains("device" + page) || reads(unit).contains("device" + page));
    }

    // --- ends of units

    Unit only(Kind kind) {
        List<Unit> found = of(kind);
        assertEquals(1, found.size(), () -> "units of " + kind + ": " + units);
        return found.getFirst();
    }

    List<Unit> of(Kind kind) {
        return units.stream().filter(unit -> unit.kind == kind).toList();
    }

    /** The unit ends: the first {@code arrive} blocks move, the others fail with {@code why} (UNKNOWN: outcome unknown). */
    AgentInput end(Unit unit, int arrive, OperationReason why) {
        assertTrue(units.remove(unit), () -> "not under way: " + unit);
        return input(unit, results(unit, arrive, why));
    }

    static AgentInput input(Unit unit, List<UnitResult> results) {
        if (unit.kind.ofDisk()) {
            return new DiskUnitEnded(unit.id, results);
        }
        return unit.copies.isEmpty() ? new StoreUnitEnded(unit.id, results) : new CopiesEnded(unit.id, results);
    }

    AgentInput endProbe(Unit unit) {
        assertTrue(units.remove(unit));
        int present = 0;
        while (present < unit.keys.size() && store.containsKey(name(unit.namespace, unit.keys.get(present)))) {
            present++;
        }
        return new StoreProbed(unit.id, storeReachable ? present : 0, storeReachable);
    }

    private List<UnitResult> results(Unit unit, int arrive, OperationReason why) {
        List<UnitResult> results = new ArrayList<>();
        for (int i = 0; i < unit.size(); i++) {
            BlockStatus not = why == OperationReason.UNKNOWN ? BlockStatus.UNKNOWN : BlockStatus.FAILED;
            results.add(i < arrive ? move(unit, i) : new UnitResult(not, why, 0));
        }
        return results;
    }

    private UnitResult move(Unit unit, int i) {
        return switch (unit.kind) {
            case SAVE -> {
                PageCopy copy = unit.copies.get(i);
                host[copy.hostPage()] = device[copy.devicePage()].clone();
                yield arrived(crc(host[copy.hostPage()]));
            }
            case LOAD -> {
                PageCopy copy = unit.copies.get(i);
                if (crc(host[copy.hostPage()]) != copy.crc32c()) {
                    yield failed(OperationReason.CHECKSUM);
                }
                device[copy.devicePage()] = host[copy.hostPage()].clone();
                yield arrived(copy.crc32c());
            }
            case READ -> read(unit.namespace, unit.objects.get(i));
            case WRITE -> write(unit.namespace, unit.objects.get(i));
            case DISK_WRITE -> {
                PageWrite write = unit.disk.writes.get(i);
                yield disk.write(unit.namespace, write, host[write.hostPage()]);
            }
            case DISK_READ -> {
                PageRead read = unit.disk.reads.get(i);
                yield disk.read(unit.namespace, read, host[read.hostPage()]);
            }
            case DISK_DROP -> disk.drop(unit.namespace, unit.disk.drops.get(i));
            case PROBE -> throw new IllegalArgumentException("a probe moves nothing");
        };
    }

    private UnitResult read(String namespace, PageObject object) {
        byte[] found = store.get(name(namespace, object.key()));
        if (found == null) {
            return failed(OperationReason.NOT_FOUND);
        }
        if (!Arrays.equals(found, content(namespace, object.key()))) {
            return failed(OperationReason.CHECKSUM);
        }
        host[object.hostPage()] = found.clone();
        return arrived(crc(found));
    }

    private UnitResult write(String namespace, PageObject object) {
        if (crc(host[object.hostPage()]) != object.crc32c()) {
            return failed(OperationReason.CHECKSUM);
        }
        byte[] before = store.putIfAbsent(name(namespace, object.key()), host[object.hostPage()].clone());
        assertTrue(
                Arrays.equals(content(namespace, object.key()), store.get(name(namespace, object.key()))),
                () -> "wrong content stored under " + object.key());
        return Optional.ofNullable(before)
                .map(there -> new UnitResult(BlockStatus.ALREADY_THERE, OperationReason.COMPLETED, object.crc32c(), OBJECT_GENERATION))
                .orElseGet(() -> new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, object.crc32c(), OBJECT_GENERATION));
    }

    static UnitResult arrived(int crc) {
        return new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, crc);
    }

    static UnitResult failed(OperationReason why) {
        return new UnitResult(BlockStatus.FAILED, why, 0);
    }
}
