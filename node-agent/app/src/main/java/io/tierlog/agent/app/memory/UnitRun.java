/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import io.tierlog.agent.core.api.AgentInput.CopiesEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.copy.CopyPlan;
import io.tierlog.agent.core.copy.CopyPlanner;
import io.tierlog.agent.core.copy.CopyPlanner.Pair;
import io.tierlog.agent.core.copy.HostImage;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.agent.core.port.DeviceEvent;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceStream;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One unit from its first piece to the idle stream. For the thread of its lane.
 *
 * <p>Blocks are taken in groups of about a piece; the plan of a group is cut into pieces, and while one piece is copied, the checksums of the next
 * (load) or of the one before (save) are computed. A group stands or falls as a whole: which byte of it failed, no device says.
 */
final class UnitRun {
    private static final Logger LOG = LoggerFactory.getLogger(UnitRun.class);
    private static final UnitResult UNKNOWN = new UnitResult(BlockStatus.UNKNOWN, OperationReason.UNKNOWN, 0);

    /** Blocks that are planned together, by their place in the unit. */
    private static final class Group {
        final List<Integer> blocks = new ArrayList<>();
        int inFlight;
        boolean allQueued;
        boolean failed;
    }

    private record Piece(DeviceEvent event, long bytes, Group group) {}

    private final DeviceStreams owner;
    private final CopyLane lane;
    private final DeviceStream stream;
    private final CopyUnit unit;
    private final @Nullable UnitResult[] results;
    private final ArrayDeque<Piece> pieces = new ArrayDeque<>();
    private long bytesInFlight;
    private boolean contextEnded;
    private boolean idle = true;
    private boolean doubtTold;

    UnitRun(DeviceStreams owner, CopyLane lane, DeviceStream stream, CopyUnit unit) {
        this.owner = owner;
        this.lane = lane;
        this.stream = stream;
        this.unit = unit;
        this.results = new UnitResult[unit.copies().size()];
    }

    /** True when nothing of the unit moves any more; false only when the driver does not say so. */
    boolean idle() {
        return idle;
    }

    /** Copies what can be copied; returns when the stream is idle for all of it. */
    CopiesEnded run() {
        EnginePool pool = unit.pool();
        if (pool != null && !owner.lost()) {
            try {
                HostImage image = owner.image(pool);
                int next = 0;
                while (next < results.length && !lane.stopped() && !contextEnded) {
                    Group group = new Group();
                    next = fill(group, next, pool);
                    queue(group, pool, image);
                }
                settleAll();
            } catch (RuntimeException | Error e) {
                // A defect here must not leave the unit without an end, nor end it while bytes move.
                LOG.error("unit {} threw", unit.id(), e);
                awaitIdle();
                for (int at = 0; at < results.length && !idle; at++) {
                    results[at] = UNKNOWN;
                }
            }
        }
        return ended(rest(pool));
    }

    /** What became of the blocks that never began. */
    private OperationReason rest(@Nullable EnginePool pool) {
        if (pool == null) {
            return OperationReason.ENGINE_GONE;
        }
        return lane.stopped() && !contextEnded ? OperationReason.CANCELLED : OperationReason.DEVICE_FAULT;
    }

    private CopiesEnded ended(OperationReason rest) {
        List<UnitResult> all = new ArrayList<>(results.length);
        for (UnitResult result : results) {
            all.add(result == null ? DeviceStreams.failed(rest) : result);
        }
        return new CopiesEnded(unit.id(), all);
    }

    // --- groups

    /** Takes the next blocks that may be copied, about a piece of them; the others have their results. Returns where to go on. */
    private int fill(Group group, int from, EnginePool pool) {
        long most = owner.limits().pieceBytes();
        int at = from;
        while (at < results.length && (group.blocks.isEmpty() || (group.blocks.size() + 1) * unit.blockBytes() <= most)) {
            PageCopy copy = unit.copies().get(at);
            UnitResult wrong = wrong(copy, pool);
            if (wrong == null) {
                group.blocks.add(at);
            } else {
                results[at] = wrong;
            }
            at++;
        }
        return at;
    }

    private @Nullable UnitResult wrong(PageCopy copy, EnginePool pool) {
        if (copy.devicePage() < 0 || copy.devicePage() >= pool.blocks() || copy.hostPage() < 0 || copy.hostPage() >= owner.host().pages()) {
            LOG.warn("unit {}: device page {} of {} or host page {} of {} is not there",
                    unit.id(), copy.devicePage(), pool.blocks(), copy.hostPage(), owner.host().pages());
            return DeviceStreams.failed(OperationReason.DEVICE_FAULT);
        }
        if (lane.loads()) {
            int found = owner.host().crc32c(copy.hostPage());
            if (found != copy.crc32c()) {
                return new UnitResult(BlockStatus.FAILED, OperationReason.CHECKSUM, found);
            }
        }
        return null;
    }

    private void queue(Group group, EnginePool pool, HostImage image) {
        List<Pair> pairs = group.blocks.stream()
                .map(at -> new Pair(unit.copies().get(at).devicePage(), unit.copies().get(at).hostPage()))
                .toList();
        for (CopyPlan piece : pieces(pool, image, pairs)) {
            while (!pieces.isEmpty() && bytesInFlight + piece.bytes() > owner.limits().workBytes()) {
                settleOldest();
            }
            if (group.failed || contextEnded) {
                break;
            }
            if (!lane.loads()) {
                owner.turns().saveBegins();
            }
            enqueue(group, piece);
        }
        group.allQueued = true;
        endIfSettled(group);
    }

    /** A save reads one place of those that hold a block, a load writes all. */
    private List<CopyPlan> pieces(EnginePool pool, HostImage image, List<Pair> pairs) {
        return pool.copies().stream()
                .limit(lane.loads() ? pool.copies().size() : 1)
                .flatMap(layers -> CopyPlanner.plan(layers, image, pairs, owner.options()).cut(owner.limits().pieceBytes()).stream())
                .toList();
    }

    private void enqueue(Group group, CopyPlan piece) {
        try {
            stream.enqueue(piece);
            pieces.add(new Piece(stream.record(), piece.bytes(), group));
            group.inFlight++;
            bytesInFlight += piece.bytes();
        } catch (DeviceFault e) {
            failed(group, e);
        }
    }

    // --- ends

    private void settleAll() {
        while (!pieces.isEmpty()) {
            settleOldest();
        }
    }

    private void settleOldest() {
        Piece piece = pieces.remove();
        Group group = piece.group();
        if (!contextEnded) {
            awaitPiece(piece);
        }
        group.failed |= contextEnded;
        piece.event().close();
        bytesInFlight -= piece.bytes();
        group.inFlight--;
        endIfSettled(group);
    }

    private void awaitPiece(Piece piece) {
        try {
            boolean reached = false;
            while (!reached) {
                reached = piece.event().await(owner.limits().drainNanos());
            }
        } catch (DeviceFault e) {
            failed(piece.group(), e);
        }
    }

    private void failed(Group group, DeviceFault e) {
        LOG.warn("unit {}: a copy of {} blocks failed: {}", unit.id(), group.blocks.size(), e.getMessage());
        group.failed = true;
        if (e.kind().endsContext()) {
            lose(e);
        } else {
            awaitIdle();
        }
    }

    /** The state of a stream after a fault is unknown: nothing ends before it has been seen idle. */
    private void awaitIdle() {
        try {
            while (!contextEnded && !stream.drain(owner.limits().drainNanos())) {
                tellDoubt();
            }
        } catch (DeviceFault e) {
            lose(e);
        }
    }

    private void lose(DeviceFault e) {
        contextEnded = true;
        idle = owner.lose(e);
    }

    /** Once: what has no result yet is in doubt. The pages are kept from everyone until the unit is reported again. */
    private void tellDoubt() {
        if (!doubtTold) {
            doubtTold = true;
            List<UnitResult> known = new ArrayList<>(results.length);
            for (UnitResult result : results) {
                known.add(result == null ? UNKNOWN : result);
            }
            owner.post(new CopiesEnded(unit.id(), known));
        }
    }

    private void endIfSettled(Group group) {
        if (!group.allQueued || group.inFlight > 0) {
            return;
        }
        for (int at : group.blocks) {
            results[at] = result(group, unit.copies().get(at));
        }
    }

    private UnitResult result(Group group, PageCopy copy) {
        if (group.failed) {
            return idle ? DeviceStreams.failed(OperationReason.DEVICE_FAULT) : UNKNOWN;
        }
        int crc = lane.loads() ? copy.crc32c() : owner.host().crc32c(copy.hostPage());
        return new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, crc);
    }
}
