/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.PeerReadCalled;
import io.tierlog.agent.core.api.AgentInput.PeerReadFinished;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.PeerFinder.Holder;
import io.tierlog.agent.core.port.PeerReplies.LeasedPage;
import io.tierlog.agent.core.port.PeerTransfers.PeerPage;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.ops.simulation.hardware.Machine;
import io.tierlog.ops.simulation.hardware.PeerRead;
import io.tierlog.ops.simulation.hardware.Unit;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What goes between the agents of a world: who has what, as committed placements say, and the reads themselves. For one thread. */
public final class SimPeers {
    /** How long a reader asks for an unknown peer read lease. */
    private static final long PATIENCE_MS = 2_000;

    private final World world;
    private final CommittedState committed;
    private final Set<String> unreachable = new LinkedHashSet<>();
    /** Calls that their readers have left before the holder answered. */
    private final List<Left> left = new ArrayList<>();
    private long calls;

    private record Left(Machine from, SimNode holder, long call) {}

    SimPeers(World world, CommittedState committed) {
        this.world = world;
        this.committed = committed;
    }

    /** Makes the peer API of a node unreachable, or reachable again. */
    public void unreachable(SimNode node, boolean now) {
        if (now) {
            unreachable.add(node.name());
        } else {
            unreachable.remove(node.name());
        }
    }

    /** Whether something can be done about a unit now. */
    public boolean isReady(Unit unit) {
        if (unit.kind() != Unit.Kind.PEER_READ || unit.peer().isSending()) {
            return true;
        }
        PeerRead read = unit.peer();
        Machine from = read.from();
        boolean answered = read.call() != 0 && from != null && from.answered(read.call()) != null;
        return answered || world.nowMs() >= read.notBeforeMs();
    }

    /** When something is to be done about a unit of a node that cannot be now; Long.MAX_VALUE when there is none. */
    long dueMs(SimNode node) {
        endReadsWithoutReader();
        AgentProcess process = node.process();
        List<Unit> units = process == null ? List.of() : process.machine().units();
        return units.stream().filter(unit -> !isReady(unit)).mapToLong(unit -> unit.peer().notBeforeMs()).min().orElse(Long.MAX_VALUE);
    }

    /** Advances a unit; what its agent receives, null while it goes on. */
    @Nullable AgentInput end(SimNode reader, Machine machine, Unit unit, Machine.Fate fate) {
        if (unit.kind() == Unit.Kind.FIND) {
            return machine.found(unit, holders(reader, unit));
        }
        PeerRead read = unit.peer();
        SimNode holder = world.node(read.holder().node());
        AgentProcess process = holder == null ? null : holder.process();
        boolean there = process != null && !process.isOver() && !unreachable.contains(read.holder().node())
                && (read.from() == null || read.call() == 0 || read.from() == process.machine());
        if (holder == null || process == null || !there) {
            over(read, holder, 0, PeerReadReason.IO, List.of());
            return machine.endPeerRead(unit, all(unit, OperationReason.IO));
        }
        if (read.isSending()) {
            return send(holder, process, machine, unit, fate);
        }
        if (read.call() == 0) {
            if (world.nowMs() >= read.giveUpAtMs(world.nowMs(), PATIENCE_MS)) {
                return machine.endPeerRead(unit, all(unit, OperationReason.NOT_SERVING));
            }
            read.asked(process.machine(), ++calls, world.nowMs() + PATIENCE_MS);
            List<Bytes> keys = read.pages().stream().map(PeerPage::key).toList();
            holder.on(new PeerReadCalled(read.call(), read.holder().grant(), reader.name(), unit.namespace(), keys));
        }
        return answer(holder, process, machine, unit);
    }

    private @Nullable AgentInput answer(SimNode holder, AgentProcess process, Machine machine, Unit unit) {
        PeerRead read = unit.peer();
        return switch (process.machine().answered(read.call())) {
            case null -> {
                if (world.nowMs() < read.notBeforeMs()) {
                    yield null;
                }
                over(read, holder, 0, PeerReadReason.CANCELLED, List.of());
                yield machine.endPeerRead(unit, all(unit, OperationReason.IO));
            }
            case Machine.PeerAnswer.Retry again -> {
                process.machine().peerReadEnded(read.call());
                read.again(world.nowMs() + again.afterMs());
                yield null;
            }
            case Machine.PeerAnswer.Refused _ -> {
                process.machine().peerReadEnded(read.call());
                yield machine.endPeerRead(unit, all(unit, OperationReason.NOT_SERVING));
            }
            case Machine.PeerAnswer.Shared _ -> {
                read.sends();
                yield null;
            }
        };
    }

    /** The blocks move, one after the other, until one does not. */
    private AgentInput send(SimNode holder, AgentProcess process, Machine machine, Unit unit, Machine.Fate fate) {
        PeerRead read = unit.peer();
        List<LeasedPage> pages = process.machine().answered(read.call()) instanceof Machine.PeerAnswer.Shared shared ? shared.pages() : List.of();
        List<UnitResult> results = new ArrayList<>();
        List<Bytes> wrong = new ArrayList<>();
        for (int i = 0; i < pages.size() && wrong.isEmpty(); i++) {
            OperationReason why = fate.of(i);
            if (why != null && why != OperationReason.CHECKSUM) {
                break;
            }
            LeasedPage page = pages.get(i);
            byte[] bytes = process.machine().sent(page);
            if (Machine.crc(bytes) != page.crc32c()) {
                wrong.add(page.key()); // the holder finds out, and sends no more
            } else {
                if (why == OperationReason.CHECKSUM) {
                    bytes[i % bytes.length] ^= 4; // on its way
                }
                results.add(machine.received(unit, i, bytes, page.crc32c()));
            }
        }
        int sent = results.size();
        results.addAll(Collections.nCopies(unit.size() - sent, failed(OperationReason.IO)));
        over(read, holder, sent, sent == unit.size() ? PeerReadReason.COMPLETED : PeerReadReason.IO, wrong);
        return machine.endPeerRead(unit, results);
    }

    /** Reports to the holder that a read is over; its machine reads nothing for it any more. */
    private void over(PeerRead read, @Nullable SimNode holder, int sentBlocks, PeerReadReason why, List<Bytes> wrong) {
        Machine from = read.from();
        if (from == null || read.call() == 0) {
            return;
        }
        // The pages may be shared before the answer has arrived: the holder receives the end all the same.
        boolean sending = read.isSending() || from.answered(read.call()) instanceof Machine.PeerAnswer.Shared;
        if (holder != null && from.answered(read.call()) == null) {
            left.add(new Left(from, holder, read.call()));
        }
        from.peerReadEnded(read.call());
        AgentProcess process = holder == null ? null : holder.process();
        if (holder != null && process != null && process.machine() == from && sending) {
            holder.on(new PeerReadFinished(read.call(), sentBlocks, (long) sentBlocks * world.oracle().blockBytes(), why, wrong));
        }
    }

    /** A read whose caller is gone is over as soon as its pages are shared, as the peer API reports a lost caller. */
    private void endReadsWithoutReader() {
        List<Left> answered = left.stream().filter(one -> one.from.answered(one.call) != null).toList();
        left.removeAll(answered);
        for (Left one : answered) {
            boolean shared = one.from.answered(one.call) instanceof Machine.PeerAnswer.Shared;
            one.from.peerReadEnded(one.call);
            AgentProcess process = one.holder.process();
            if (shared && process != null && process.machine() == one.from) {
                one.holder.on(new PeerReadFinished(one.call, 0, 0, PeerReadReason.CANCELLED, List.of()));
            }
        }
    }

    /** A reader has died: what it was being sent goes nowhere. */
    void readerDied(Machine machine) {
        for (Unit unit : machine.units()) {
            if (unit.kind() == Unit.Kind.PEER_READ) {
                PeerRead read = unit.peer();
                Machine from = read.from();
                if (from != null && read.call() != 0 && from.answered(read.call()) instanceof Machine.PeerAnswer.Shared) {
                    read.sends();
                }
                over(read, world.node(read.holder().node()), 0, PeerReadReason.CANCELLED, List.of());
            }
        }
    }

    private static List<UnitResult> all(Unit unit, OperationReason why) {
        return Collections.nCopies(unit.size(), failed(why));
    }

    private static UnitResult failed(OperationReason why) {
        return new UnitResult(BlockStatus.FAILED, why, 0);
    }

    // --- who has it

    private List<Holder> holders(SimNode reader, Unit unit) {
        List<Holder> holders = new ArrayList<>();
        HeapTables tables = committed.rows();
        Bytes namespace = Namespaces.digest(unit.namespace());
        for (SimNode node : world.nodes()) {
            NodeRow row = tables.get(Rows.NODES, new RowKey.Aggregate(node.aggregate()));
            if (node == reader || row == null || !row.alive()) {
                continue;
            }
            int blocks = 0;
            boolean host = true;
            for (Bytes key : unit.keys()) {
                int index = unit.firstIndex() + blocks;
                boolean onHost = serves(tables, row, new RowKey.Placement(node.aggregate(), namespace, Tier.HOST, key), index);
                if (!onHost && !serves(tables, row, new RowKey.Placement(node.aggregate(), namespace, Tier.DISK, key), index)) {
                    break;
                }
                host &= onHost;
                blocks++;
            }
            if (blocks > 0) {
                holders.add(new Holder(node.name(), node.name() + ":1", host ? Tier.HOST : Tier.DISK, blocks));
            }
        }
        return holders;
    }

    private static boolean serves(HeapTables tables, NodeRow node, RowKey.Placement key, int index) {
        PlacementRow row = tables.get(Rows.PLACEMENTS, key);
        return row != null && row.incarnation() == node.incarnation() && row.index() == index
                && (row.state() == PlacementState.SERVING || row.state() == PlacementState.COPYING || row.state() == PlacementState.COPYING_KEEP);
    }
}
