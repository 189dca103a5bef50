/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.hardware;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.DeviceCopies;
import io.tierlog.agent.core.port.DiskTransfers;
import io.tierlog.agent.core.port.DiskTransfers.PageRead;
import io.tierlog.agent.core.port.DiskTransfers.PageWrite;
import io.tierlog.agent.core.port.PeerFinder;
import io.tierlog.agent.core.port.PeerPorts;
import io.tierlog.agent.core.port.PeerReplies;
import io.tierlog.agent.core.port.PeerReplies.LeasedPage;
import io.tierlog.agent.core.port.PeerTransfers.PeerPage;
import io.tierlog.agent.core.port.StoreTransfers;
import io.tierlog.agent.core.port.StoreTransfers.StoredObject;
import io.tierlog.ops.simulation.engine.DevicePages;
import io.tierlog.ops.simulation.engine.Oracle;
import io.tierlog.ops.simulation.engine.Tally;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The hardware of one agent process: its host memory, the two copy queues of the device, and its queues to disk and store. Units wait in line until
 * they are made to end; a shadow book finds pages that are written by two, or read and written at once. All bytes that are read are compared with the
 * oracle. For one thread.
 */
public final class Machine implements DeviceCopies, StoreTransfers {
    /** Decides the fate of one block of a unit; null when it moves. UNKNOWN: the outcome is unknown. */
    @FunctionalInterface
    public interface Fate {
        @Nullable OperationReason of(int position);

        /** When a block of unknown outcome moves all the same. Blocks of the device move at once. */
        default Moves unknown(int position) {
            return Moves.NEVER;
        }
    }

    /** When a block of unknown outcome moves: the agent never learns it. */
    public enum Moves {
        AT_ONCE,
        /** When the unit is settled, or its process dies. */
        LATER,
        NEVER
    }

    /** All blocks move. */
    public static final Fate WELL = position -> null;

    /** What the machine is made of. */
    public record Parts(Oracle oracle, Tally tally, Supplier<DevicePages> device, Medium disk, Medium store, String node) {}

    private record DiskKey(String namespace, Bytes key) {}

    private final Parts parts;
    private final int hostPages;
    private final byte[][] host;
    private final int[] hostReaders;
    private final int[] hostWriters;
    private final PageBook book;
    private final ClaimBook claims;
    private final Map<DiskKey, Integer> diskWriters = new LinkedHashMap<>();
    private final List<Unit> units = new ArrayList<>();
    /** Units that ended without saying how: what they touch is not idle before they are settled. */
    private final List<Unit> doubtful = new ArrayList<>();
    private final Map<Unit, DevicePages> memories = new LinkedHashMap<>();
    private final Map<Long, PeerAnswer> answered = new LinkedHashMap<>();
    private long step;
    private long shardReads;

    /** One with so many host pages, and behind them so many that are the agent's own. */
    public Machine(Parts parts, int hostPages, int bouncePages) {
        this.parts = parts;
        this.hostPages = hostPages;
        int pages = hostPages + bouncePages;
        host = new byte[pages][parts.oracle.blockBytes()];
        hostReaders = new int[pages];
        hostWriters = new int[pages];
        book = new PageBook(parts.node, hostPages);
        claims = new ClaimBook(parts.node, pages);
    }

    /** The agent emits an event, which reaches the log later, or never. */
    public void emitted(Event event) {
        book.emitted(event);
        claims.emitted(event);
    }

    /** The agent takes its next step: what it queues from here on belongs together. */
    public void nextStep() {
        step++;
    }

    /** Steps that the agent has taken. */
    public long step() {
        return step;
    }

    /** Units that have not ended, oldest first. */
    public List<Unit> units() {
        return units;
    }

    /** Shards that were read from the store: blocks times ranks. */
    public long shardReads() {
        return shardReads;
    }

    /** One bit of a host page that no copy reads flips; false when it cannot. */
    public boolean rot(int page) {
        if (hostReaders[page] > 0 || hostWriters[page] > 0) {
            return false;
        }
        host[page][page % host[page].length] ^= 2;
        return true;
    }

    /** One bit of the page that holds the content of a block flips; false when no page does. */
    public boolean corrupt(String namespace, Bytes key) {
        for (byte[] page : host) {
            if (parts.oracle.isRight(namespace, key, page)) {
                page[page.length / 3] ^= 0x10;
                return true;
            }
        }
        return false;
    }

    // --- ports

    @Override
    public void save(long unit, List<PageCopy> copies) {
        add(Unit.copies(unit, Unit.Kind.SAVE, copies, step));
    }

    @Override
    public void load(long unit, List<PageCopy> copies) {
        add(Unit.copies(unit, Unit.Kind.LOAD, copies, step));
    }

    @Override
    public void detach() {
        // The memory of a unit is the one that the engine had when it was queued.
    }

    @Override
    public void probe(long unit, String namespace, List<Bytes> keys) {
        units.add(Unit.probe(unit, namespace, keys, step));
    }

    /** Its answer comes late, as that of a store that hangs does. */
    @Override
    public void cancelProbe(long unit) {}

    @Override
    public void read(long unit, String namespace, List<PageObject> objects) {
        add(Unit.objects(unit, Unit.Kind.STORE_READ, namespace, objects, step));
    }

    @Override
    public void write(long unit, String namespace, List<PageObject> objects) {
        add(Unit.objects(unit, Unit.Kind.STORE_WRITE, namespace, objects, step));
    }

    @Override
    public void delete(long unit, String namespace, List<StoredObject> objects) {
        add(Unit.deletions(unit, namespace, objects, step));
    }

    /** The way to the disk. */
    public DiskTransfers disk() {
        return new DiskTransfers() {
            @Override
            public void write(long unit, String namespace, List<PageWrite> blocks) {
                add(Unit.writes(unit, namespace, blocks, step));
            }

            @Override
            public void read(long unit, String namespace, List<PageRead> blocks) {
                add(Unit.reads(unit, namespace, blocks, step));
            }

            @Override
            public void drop(long unit, String namespace, List<DiskObject> copies) {
                add(Unit.drops(unit, namespace, copies, step));
            }
        };
    }

    // --- other nodes

    /** The answer to a peer reader. */
    public sealed interface PeerAnswer {
        /** To ask again. */
        record Retry(long afterMs) implements PeerAnswer {}

        /** The read is refused. */
        record Refused(PeerReadReason why) implements PeerAnswer {}

        /** These pages are shared for the read until it is over. */
        record Shared(List<LeasedPage> pages) implements PeerAnswer {}
    }

    /** The ways to other nodes, and from them. */
    public PeerPorts peers() {
        PeerReplies replies = new PeerReplies() {
            @Override
            public void retry(long call, long afterMs) {
                answered.put(call, new PeerAnswer.Retry(afterMs));
            }

            @Override
            public void refuse(long call, PeerReadReason why) {
                answered.put(call, new PeerAnswer.Refused(why));
            }

            @Override
            public void send(long call, List<LeasedPage> pages) {
                pages.forEach(page -> hostPage(page.hostPage(), false, 1));
                answered.put(call, new PeerAnswer.Shared(pages));
            }
        };
        return new PeerPorts(
                (unit, namespace, first, keys) -> units.add(Unit.find(unit, namespace, first, keys, step)),
                (unit, holder, namespace, pages) -> add(Unit.peer(unit, namespace, new PeerRead(holder, pages), step)), replies);
    }

    /** The answer to a peer reader; null while there is none. */
    public @Nullable PeerAnswer answered(long call) {
        return answered.get(call);
    }

    /** Nothing is read for that call any more. */
    public void peerReadEnded(long call) {
        if (answered.remove(call) instanceof PeerAnswer.Shared shared) {
            shared.pages().forEach(page -> hostPage(page.hostPage(), false, -1));
        }
    }

    /** Checksum of bytes. */
    public static int crc(byte[] bytes) {
        return Medium.crc(bytes);
    }

    /** The bytes of a page as they are sent. */
    public byte[] sent(LeasedPage page) {
        return host[page.hostPage()].clone();
    }

    /** Bytes that another node has sent for a block of a unit, and the checksum that it says they have. */
    public UnitResult received(Unit unit, int position, byte[] bytes, int crc32c) {
        PeerPage page = unit.peer().pages().get(position);
        System.arraycopy(bytes, 0, host[page.hostPage()], 0, bytes.length);
        if (Medium.crc(bytes) != crc32c) {
            return failed(OperationReason.CHECKSUM);
        }
        boolean right = parts.oracle.isRight(unit.namespace, page.key(), bytes);
        parts.tally.checked(right, right ? "" : "block " + page.key() + " of " + unit.namespace + " read from " + unit.peer().holder().node());
        return new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, crc32c);
    }

    /** A read from another node has ended; what the agent receives. */
    public AgentInput endPeerRead(Unit unit, List<UnitResult> results) {
        if (!units.remove(unit)) {
            throw new IllegalStateException("a unit ends twice");
        }
        release(unit);
        return new AgentInput.PeerUnitEnded(unit.id, results);
    }

    /** A lookup of other nodes has ended; what the agent receives. */
    public AgentInput found(Unit unit, List<PeerFinder.Holder> holders) {
        if (!units.remove(unit)) {
            throw new IllegalStateException("a unit ends twice");
        }
        return new AgentInput.PeersFound(unit.id, holders);
    }

    // --- the shadow book

    private void add(Unit unit) {
        if (unit.kind.ofDevice()) {
            memories.put(unit, parts.device.get());
        }
        if (unit.touchesPagesFrom(hostPages)) {
            unit.operation = OperationKind.COPY; // nothing else goes through the agent's own pages
        } else if (unit.reads.stream().anyMatch(read -> book.isPromoted(read.hostPage()))) {
            unit.operation = OperationKind.PROMOTE;
        }
        unit.copiesToStore = unit.kind == Unit.Kind.STORE_WRITE && unit.objects.stream().allMatch(object -> book.isCopied(object.hostPage()));
        touch(unit, 1);
        units.add(unit);
    }

    private void touch(Unit unit, int by) {
        boolean save = unit.kind == Unit.Kind.SAVE;
        for (PageCopy copy : unit.copies) {
            hostPage(copy.hostPage(), save, by);
            devicePage(memory(unit), copy.devicePage(), !save, by);
        }
        unit.objects.forEach(object -> hostPage(object.hostPage(), unit.kind == Unit.Kind.STORE_READ, by));
        unit.reads.forEach(read -> hostPage(read.hostPage(), true, by));
        unit.writes.forEach(write -> {
            hostPage(write.hostPage(), false, by);
            diskKey(unit.namespace, write.key(), by);
        });
        unit.drops.forEach(drop -> diskKey(unit.namespace, drop.key(), by));
        if (unit.kind == Unit.Kind.PEER_READ) {
            unit.peer().pages().forEach(page -> hostPage(page.hostPage(), true, by));
        }
    }

    private DevicePages memory(Unit unit) {
        DevicePages memory = memories.get(unit);
        if (memory == null) {
            throw new IllegalStateException("a unit of the device has no memory");
        }
        return memory;
    }

    private static void devicePage(DevicePages memory, int page, boolean write, int by) {
        if (by > 0 && write) {
            memory.beginWrite(page);
        } else if (by > 0) {
            memory.beginRead(page);
        } else if (write) {
            memory.endWrite(page);
        } else {
            memory.endRead(page);
        }
    }

    private void hostPage(int page, boolean write, int by) {
        if (by > 0 && (hostWriters[page] > 0 || (write && hostReaders[page] > 0))) {
            throw new IllegalStateException("I2/I3: host page " + page + " of " + parts.node + " is written by two copies, or read and written");
        }
        if (by > 0 && write && page < hostPages) { // the agent reports its own pages to no other process
            book.written(page);
        }
        if (by > 0 && write) {
            claims.written(page);
        }
        if (write) {
            hostWriters[page] += by;
        } else {
            hostReaders[page] += by;
        }
    }

    private void diskKey(String namespace, Bytes key, int by) {
        int writers = diskWriters.merge(new DiskKey(namespace, key), by, Integer::sum);
        if (writers > 1) {
            throw new IllegalStateException("block " + key + " is written to the disk of " + parts.node + " or dropped there by two at once");
        }
    }

    // --- ends of units

    /** Whether the device has copied all parts of a unit. */
    public boolean isCopied(Unit unit) {
        return unit.copied == unit.copies.size() * parts.oracle.parts();
    }

    /** The device copies one more part of the oldest unit of a kind. A part that fails fails its block. */
    public void copyPart(Unit unit, @Nullable OperationReason failure) {
        int perBlock = parts.oracle.parts();
        int position = unit.copied / perBlock;
        PageCopy copy = unit.copies.get(position);
        if (unit.kind == Unit.Kind.LOAD && unit.copied % perBlock == 0 && Medium.crc(host[copy.hostPage()]) != copy.crc32c()) {
            unit.failures[position] = OperationReason.CHECKSUM;
        }
        if (failure != null && unit.failures[position] == null) {
            unit.failures[position] = failure;
        }
        if (unit.failures[position] == null) {
            byte[] device = memory(unit).bytes(copy.devicePage());
            byte[] page = host[copy.hostPage()];
            int at = unit.copied % perBlock * Oracle.PART_BYTES;
            boolean save = unit.kind == Unit.Kind.SAVE;
            System.arraycopy(save ? device : page, at, save ? page : device, at, Oracle.PART_BYTES);
        }
        unit.copied++;
    }

    /** The unit ends: each block moves or fails as {@code fate} decides; what the agent receives. */
    public AgentInput end(Unit unit, Fate fate) {
        if (!units.remove(unit)) {
            throw new IllegalStateException("a unit ends twice");
        }
        if (unit.kind == Unit.Kind.PROBE) {
            return probed(unit);
        }
        List<UnitResult> results = new ArrayList<>(unit.size());
        for (int i = 0; i < unit.size(); i++) {
            boolean behind = unit.kind == Unit.Kind.STORE_DELETE && i > 0 && stays(results.getLast());
            results.add(behind ? results.getLast() : ended(unit, i, fate));
        }
        // A drop or delete of unknown outcome is repeated, and it names a generation: nothing waits for it.
        boolean repeated = unit.kind == Unit.Kind.DISK_DROP || unit.kind == Unit.Kind.STORE_DELETE;
        if (!repeated && results.stream().anyMatch(result -> result.status() == BlockStatus.UNKNOWN)) {
            unit.fate = fate;
            doubtful.add(unit);
        } else {
            release(unit);
            if (unit.kind.ofDevice()) { // one stream for each direction: what was queued before it is idle too
                List.copyOf(doubtful).stream().filter(one -> one.kind == unit.kind).forEach(this::release);
            }
        }
        return input(unit, results);
    }

    /** An object that is not deleted keeps those behind it in the unit. */
    private static boolean stays(UnitResult result) {
        return result.status() != BlockStatus.GONE && result.reason() != OperationReason.NOT_FOUND
                && result.reason() != OperationReason.STALE_GENERATION;
    }

    private UnitResult ended(Unit unit, int position, Fate fate) {
        OperationReason failure = fate.of(position);
        UnitResult result;
        if (failure == OperationReason.UNKNOWN && !unit.kind.ofDevice()) {
            if (fate.unknown(position) == Moves.AT_ONCE) {
                result(unit, position, null);
            }
            result = failed(failure);
        } else {
            result = result(unit, position, failure);
        }
        if (unit.kind == Unit.Kind.STORE_WRITE) {
            claims.answered(Tier.STORE, unit.namespace, unit.objects.get(position).key(), result);
        } else if (unit.kind == Unit.Kind.DISK_WRITE) {
            claims.answered(Tier.DISK, unit.namespace, unit.writes.get(position).key(), result);
        }
        return result;
    }

    private void release(Unit unit) {
        doubtful.remove(unit);
        touch(unit, -1);
        memories.remove(unit);
    }

    /** Units whose outcome is unknown yet. */
    public List<Unit> doubtful() {
        return doubtful;
    }

    /** What the agent receives for a doubtful unit that is idle now: what was to move late has moved, and none of it counts any more. */
    public AgentInput settle(Unit unit) {
        List<UnitResult> results = new ArrayList<>();
        OperationReason why = unit.kind.ofDevice() ? OperationReason.DEVICE_FAULT : OperationReason.IO;
        moveLate(unit);
        release(unit);
        for (int i = 0; i < unit.size(); i++) {
            results.add(failed(why));
        }
        return input(unit, results);
    }

    private void moveLate(Unit unit) {
        for (int i = 0; i < unit.size() && !unit.kind.ofDevice(); i++) {
            if (unit.fate.of(i) == OperationReason.UNKNOWN && unit.fate.unknown(i) == Moves.LATER) {
                result(unit, i, null);
            }
        }
    }

    private static AgentInput input(Unit unit, List<UnitResult> results) {
        return switch (unit.kind) {
            case LOAD, SAVE -> new AgentInput.CopiesEnded(unit.id, results);
            case STORE_READ, STORE_WRITE, STORE_DELETE -> new AgentInput.StoreUnitEnded(unit.id, results);
            case DISK_READ, DISK_WRITE, DISK_DROP -> new AgentInput.DiskUnitEnded(unit.id, results);
            case PROBE, FIND, PEER_READ -> throw new IllegalArgumentException("no unit that ends by itself: " + unit.kind);
        };
    }

    private AgentInput probed(Unit unit) {
        int present = 0;
        while (present < unit.keys.size() && parts.store.holds(unit.namespace, unit.keys.get(present))) {
            present++;
        }
        boolean reachable = parts.store.reachable();
        return new AgentInput.StoreProbed(unit.id, reachable ? present : 0, reachable);
    }

    private UnitResult result(Unit unit, int position, @Nullable OperationReason failure) {
        if (unit.kind.ofDevice()) {
            return copied(unit, position, failure);
        }
        if (failure != null) {
            return failed(failure);
        }
        return switch (unit.kind) {
            case STORE_READ -> {
                PageObject object = unit.objects.get(position);
                shardReads += parts.oracle.ranks();
                yield landed(unit.namespace, object.key(), object.hostPage(), parts.store.read(unit.namespace, object.key(), 0));
            }
            case DISK_READ -> {
                PageRead read = unit.reads.get(position);
                yield landed(unit.namespace, read.key(), read.hostPage(), parts.disk.read(unit.namespace, read.key(), read.generation()));
            }
            case STORE_WRITE -> {
                PageObject object = unit.objects.get(position);
                Block block = new Block(0, object.key(), Bytes.EMPTY);
                yield sent(unit.namespace, object.hostPage(), block, parts.store, object.crc32c());
            }
            case DISK_WRITE -> {
                PageWrite write = unit.writes.get(position);
                yield sent(unit.namespace, write.hostPage(), new Block(write.index(), write.key(), write.parent()), parts.disk, write.crc32c());
            }
            case STORE_DELETE -> {
                StoredObject object = unit.deletions().get(position);
                yield of(parts.store.delete(unit.namespace, object.key(), object.generation()));
            }
            case DISK_DROP -> of(parts.disk.drop(unit.namespace, unit.drops.get(position).key(), unit.drops.get(position).generation()));
            case LOAD, SAVE, PROBE, FIND, PEER_READ -> throw new IllegalStateException("handled before");
        };
    }

    private UnitResult copied(Unit unit, int position, @Nullable OperationReason failure) {
        while (unit.copied < (position + 1) * parts.oracle.parts()) {
            copyPart(unit, failure);
        }
        // Of a stream that has not answered nothing is known, not even what has failed in it.
        boolean unknown = failure == OperationReason.UNKNOWN;
        OperationReason why = unknown || unit.failures[position] == null ? failure : unit.failures[position];
        if (why != null) {
            return failed(why);
        }
        PageCopy copy = unit.copies.get(position);
        int crc = unit.kind == Unit.Kind.SAVE ? Medium.crc(host[copy.hostPage()]) : copy.crc32c();
        return new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, crc);
    }

    private UnitResult landed(String namespace, Bytes key, int page, Medium.Answer answer) {
        if (answer.misread() != null && answer.bytes() != null) {
            System.arraycopy(answer.bytes(), 0, host[page], 0, host[page].length);
            claims.misread(page, "block " + key + " of " + namespace + ": the disk returned " + answer.misread());
        } else if (answer.bytes() != null) {
            System.arraycopy(answer.bytes(), 0, host[page], 0, host[page].length);
            boolean right = parts.oracle.isRight(namespace, key, host[page]);
            parts.tally.checked(right, right ? "" : "block " + key + " of " + namespace + " read into host page " + page + " of " + parts.node);
        }
        return of(answer);
    }

    /** What goes out under a key must be what belongs there; a page that has rotted is found by its checksum and does not go. */
    private UnitResult sent(String namespace, int page, Block block, Medium to, int crc32c) {
        claims.used(page);
        Medium.Answer answer = to.write(namespace, block, crc32c, host[page]);
        if (answer.status() == BlockStatus.ARRIVED) {
            boolean right = parts.oracle.isRight(namespace, block.key(), host[page]);
            parts.tally.written(right, right ? "" : "block " + block.key() + " of " + namespace + " written from host page " + page);
        }
        return of(answer);
    }

    private static UnitResult of(Medium.Answer answer) {
        return new UnitResult(answer.status(), answer.reason(), answer.crc32c(), answer.generation());
    }

    private static UnitResult failed(OperationReason why) {
        return new UnitResult(why == OperationReason.UNKNOWN ? BlockStatus.UNKNOWN : BlockStatus.FAILED, why, 0);
    }

    // --- the end of the process

    /** The process dies: what is under way stops where it is; a write to the disk has come down or not, as {@code fate} says. */
    public void die(Fate fate) {
        List.copyOf(doubtful).forEach(unit -> {
            moveLate(unit);
            release(unit);
        });
        for (Unit unit : List.copyOf(units)) {
            if (unit.kind == Unit.Kind.DISK_WRITE) {
                end(unit, fate);
            } else if (units.remove(unit) && unit.kind != Unit.Kind.PROBE && unit.kind != Unit.Kind.FIND) {
                release(unit);
            }
        }
    }
}
