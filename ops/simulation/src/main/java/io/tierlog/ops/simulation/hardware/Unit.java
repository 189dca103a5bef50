/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.hardware;

import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.agent.core.port.DiskTransfers.DiskObject;
import io.tierlog.agent.core.port.DiskTransfers.PageRead;
import io.tierlog.agent.core.port.DiskTransfers.PageWrite;
import io.tierlog.agent.core.port.StoreTransfers.PageObject;
import io.tierlog.agent.core.port.StoreTransfers.StoredObject;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A unit of work that an agent has queued at one of its ports. For one thread. */
public final class Unit {
    /** What a unit does. */
    public enum Kind {
        LOAD(OperationKind.LOAD_BACK),
        SAVE(OperationKind.WRITE_BACK),
        STORE_READ(OperationKind.PREFETCH),
        STORE_WRITE(OperationKind.BACK_UP),
        STORE_DELETE(OperationKind.UNKNOWN),
        PROBE(OperationKind.UNKNOWN),
        DISK_READ(OperationKind.PREFETCH),
        DISK_WRITE(OperationKind.COPY),
        DISK_DROP(OperationKind.DROP),
        PEER_READ(OperationKind.PREFETCH),
        FIND(OperationKind.UNKNOWN);

        private final OperationKind operation;

        Kind(OperationKind operation) {
            this.operation = operation;
        }

        /** True for the two queues of the device, whose units end in order. */
        public boolean ofDevice() {
            return this == LOAD || this == SAVE;
        }
    }

    final long id;
    final Kind kind;
    final String namespace;
    final List<PageCopy> copies;
    final List<PageObject> objects;
    final List<Bytes> keys;
    final List<PageWrite> writes;
    final List<PageRead> reads;
    final List<DiskObject> drops;
    /** Objects to delete from the store. */
    private List<StoredObject> deletions = List.of();
    /** Where a read from another node stands; null for other kinds. */
    final @Nullable PeerRead peer;
    /** The step of the agent in which it was queued: units of one operation begin together. */
    final long step;
    /** The operation that it is a part of. */
    OperationKind operation;
    /** Position of the first key in the prompt, of what is looked for at other nodes. */
    private int firstIndex;
    /** Parts that the device has copied. */
    int copied;
    /** Whether it is a part of a copy from the host to the store. */
    boolean copiesToStore;
    /** How a unit of unknown outcome has ended. */
    Machine.Fate fate = Machine.WELL;
    /** Why a block of a device unit has failed, by position. */
    final @Nullable OperationReason[] failures;

    private Unit(long id, Kind kind, String namespace, Work work, long step) {
        this.id = id;
        this.kind = kind;
        this.namespace = namespace;
        this.copies = work.copies;
        this.objects = work.objects;
        this.keys = work.keys;
        this.writes = work.writes;
        this.reads = work.reads;
        this.drops = work.drops;
        this.peer = work.peer;
        this.step = step;
        this.operation = kind.operation;
        this.failures = new @Nullable OperationReason[copies.size()];
    }

    /** What is to be done; one of the lists. */
    private record Work(
            List<PageCopy> copies, List<PageObject> objects, List<Bytes> keys, List<PageWrite> writes, List<PageRead> reads,
            List<DiskObject> drops, @Nullable PeerRead peer) {}

    static Unit copies(long id, Kind kind, List<PageCopy> copies, long step) {
        return new Unit(id, kind, "", new Work(List.copyOf(copies), List.of(), List.of(), List.of(), List.of(), List.of(), null), step);
    }

    static Unit objects(long id, Kind kind, String namespace, List<PageObject> objects, long step) {
        return new Unit(id, kind, namespace, new Work(List.of(), List.copyOf(objects), List.of(), List.of(), List.of(), List.of(), null), step);
    }

    static Unit probe(long id, String namespace, List<Bytes> keys, long step) {
        return new Unit(id, Kind.PROBE, namespace, new Work(List.of(), List.of(), List.copyOf(keys), List.of(), List.of(), List.of(), null), step);
    }

    static Unit writes(long id, String namespace, List<PageWrite> writes, long step) {
        Work work = new Work(List.of(), List.of(), List.of(), List.copyOf(writes), List.of(), List.of(), null);
        return new Unit(id, Kind.DISK_WRITE, namespace, work, step);
    }

    static Unit reads(long id, String namespace, List<PageRead> reads, long step) {
        Work work = new Work(List.of(), List.of(), List.of(), List.of(), List.copyOf(reads), List.of(), null);
        return new Unit(id, Kind.DISK_READ, namespace, work, step);
    }

    static Unit drops(long id, String namespace, List<DiskObject> drops, long step) {
        Work work = new Work(List.of(), List.of(), List.of(), List.of(), List.of(), List.copyOf(drops), null);
        return new Unit(id, Kind.DISK_DROP, namespace, work, step);
    }

    static Unit deletions(long id, String namespace, List<StoredObject> objects, long step) {
        Work work = new Work(List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), null);
        Unit unit = new Unit(id, Kind.STORE_DELETE, namespace, work, step);
        unit.deletions = List.copyOf(objects);
        return unit;
    }

    static Unit find(long id, String namespace, int firstIndex, List<Bytes> keys, long step) {
        Work work = new Work(List.of(), List.of(), List.copyOf(keys), List.of(), List.of(), List.of(), null);
        Unit unit = new Unit(id, Kind.FIND, namespace, work, step);
        unit.firstIndex = firstIndex;
        return unit;
    }

    static Unit peer(long id, String namespace, PeerRead read, long step) {
        Work work = new Work(List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), read);
        return new Unit(id, Kind.PEER_READ, namespace, work, step);
    }

    /** Objects that it deletes from the store. */
    List<StoredObject> deletions() {
        return deletions;
    }

    /** Namespace of its blocks; empty for the device. */
    public String namespace() {
        return namespace;
    }

    /** Keys that are looked for. */
    public List<Bytes> keys() {
        return keys;
    }

    /** Position of the first of them in the prompt. */
    public int firstIndex() {
        return firstIndex;
    }

    /** Where a read from another node stands. */
    public PeerRead peer() {
        PeerRead read = peer;
        if (read == null) {
            throw new IllegalStateException("no read from another node: " + kind);
        }
        return read;
    }

    /** Whether bytes may move at its end: a read from another node needs its pages shared first. */
    public boolean moves() {
        return kind != Kind.PEER_READ || peer().isSending();
    }

    /** What it does. */
    public Kind kind() {
        return kind;
    }

    /** The operation that it is a part of, as far as the machine can tell: a copy from the host to the store counts as a backup, too. */
    public OperationKind operation() {
        return operation;
    }

    /** True for a copy of host pages to the store that is no backup. */
    public boolean copiesToStore() {
        return copiesToStore;
    }

    /** True when it moves bytes from or to a host page from that number on. */
    boolean touchesPagesFrom(int first) {
        return copies.stream().anyMatch(copy -> copy.hostPage() >= first)
                || objects.stream().anyMatch(object -> object.hostPage() >= first)
                || writes.stream().anyMatch(write -> write.hostPage() >= first)
                || reads.stream().anyMatch(read -> read.hostPage() >= first);
    }

    /** The step of the agent in which it was queued. */
    public long step() {
        return step;
    }

    /** Parts that the device has copied. */
    public int partsCopied() {
        return copied;
    }

    /** Blocks in it. */
    public int size() {
        return copies.size() + objects.size() + writes.size() + reads.size() + drops.size() + deletions.size()
                + (peer == null ? 0 : peer.pages().size());
    }
}
