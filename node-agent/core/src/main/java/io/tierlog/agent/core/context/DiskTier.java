/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.context;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.DiskFound;
import io.tierlog.agent.core.api.AgentInput.FoundOnDisk;
import io.tierlog.agent.core.api.AgentInput.SeenInStore;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.disk.DiskIndex;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.agent.core.disk.DiskState;
import io.tierlog.agent.core.port.DiskTransfers.DiskObject;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.BlocksSeenStored;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * The disk tier as the core sees it: placements that a start has found and reports to the log in steps, those that serve, and those that no lookup
 * finds until their bytes have left the disk.
 *
 * <p>A placement that was found serves only once the log has it. An abandoned one is dropped from the disk in the background, again until that
 * succeeds: a drop names its generation, so a repeat has no effect. For the core's one thread.
 */
public final class DiskTier implements Component {
    /** How long the reports wait when the log does not take more, in milliseconds. */
    private static final long CONGESTED_MS = 10;

    /** Bytes on the disk that no lookup finds; without a placement when the index never had one. */
    private record Remnant(String namespace, Bytes key, long generation, @Nullable DiskPlacement copy) {
        boolean idle() {
            return copy == null || copy.pins().isEmpty();
        }
    }

    private final DiskIndex index;

    private final AgentContext context;
    private final List<FoundOnDisk> found = new ArrayList<>();
    private final SequencedMap<String, Deque<DiskPlacement>> toReport = new LinkedHashMap<>();
    /** Steps that are not on the log yet; together no more blocks than a start has found. */
    private final Deque<SeenInStore> seen = new ArrayDeque<>();
    private final Deque<Remnant> remnants = new ArrayDeque<>();
    private List<Remnant> dropping = List.of();
    private long dropUnit;
    private boolean allFound;
    private long unreported;
    private long reportAtMs = Long.MIN_VALUE;
    private long dropAtMs = Long.MIN_VALUE;

    DiskTier(AgentContext context) {
        this.context = context;
        this.index = new DiskIndex(context.registration().diskBlocks());
    }

    /** The placements on the disk. */
    public DiskIndex index() {
        return index;
    }

    /** True when the node has such a tier. */
    public boolean exists() {
        return index.capacity() > 0;
    }

    /** True when everything the start has found is on the log, so that copies may come and go. */
    public boolean isOpen() {
        return allFound && unreported == 0 && context.phase() == AgentPhase.ON_LOG;
    }

    public Optional<DiskPlacement> serving(String namespace, Bytes key) {
        return index.serving(namespace, key);
    }

    // --- what a start has found

    public void found(DiskFound in) {
        if (!exists() || allFound) {
            throw new IllegalStateException("The content of the disk is reported once, to an agent that has a disk");
        }
        found.addAll(in.copies());
        if (in.last()) {
            // The lower the index the more a placement is worth: a block without its prefix has no use.
            found.sort(Comparator.comparingInt(copy -> copy.block().index()));
            found.forEach(this::take);
            found.clear();
            allFound = true;
        }
    }

    private void take(FoundOnDisk copy) {
        boolean known = index.known(copy.namespace(), copy.block().key()).isPresent();
        if (copy.bytes() != context.registration().blockBytes() || (index.isFull() && !known)) {
            // Of another layout, or of a larger disk: it has no use.
            context.counters().increment(AgentCounter.DISK_COPIES_GIVEN_UP);
            remnants.add(new Remnant(copy.namespace(), copy.block().key(), copy.generation(), null));
            return;
        }
        index.found(copy.namespace(), copy.block(), copy.generation(), copy.crc32c()).ifPresent(fresh -> {
            toReport.computeIfAbsent(fresh.namespace(), any -> new ArrayDeque<>()).add(fresh);
            unreported++;
        });
    }

    /** The epoch of the agent has ended, and no operation uses the disk: what serves is reported in the next one, and serves again then. */
    public void leaveLog() {
        seen.clear();
        if (allFound) {
            toReport.clear();
            List<DiskPlacement> held = index.all().stream()
                    .filter(copy -> copy.state() == DiskState.SERVING || copy.state() == DiskState.FOUND)
                    .sorted(Comparator.comparingInt(copy -> copy.block().index()))
                    .toList();
            held.stream().filter(copy -> copy.state() == DiskState.SERVING).forEach(index::unreported);
            held.forEach(copy -> toReport.computeIfAbsent(copy.namespace(), any -> new ArrayDeque<>()).add(copy));
            unreported = held.size();
        }
    }

    /** Queued until the log has the placements, in steps of no more blocks than one record may have. */
    public void seen(SeenInStore in) {
        int most = context.limits().disk().recoveredPerRecord();
        for (int from = 0; from < in.blocks().size(); from += most) {
            seen.add(new SeenInStore(in.namespace(), in.blocks().subList(from, Math.min(from + most, in.blocks().size()))));
        }
    }

    private void reportSeen() {
        while (!seen.isEmpty() && isOpen() && context.nowMs() >= reportAtMs) {
            if (context.ports().events().congested()) {
                reportAtMs = context.nowMs() + CONGESTED_MS;
                return;
            }
            SeenInStore step = seen.remove();
            context.append("", e -> new BlocksSeenStored(e, step.namespace(), step.blocks()));
        }
    }

    private void report() {
        var first = toReport.firstEntry();
        if (first == null || !allFound || context.phase() != AgentPhase.ON_LOG || context.nowMs() < reportAtMs) {
            return;
        }
        if (context.ports().events().congested()) {
            reportAtMs = context.nowMs() + CONGESTED_MS;
            return;
        }
        String namespace = first.getKey();
        Deque<DiskPlacement> copies = first.getValue();
        List<PagedBlock> step = new ArrayList<>();
        List<DiskPlacement> serve = new ArrayList<>();
        while (step.size() < context.limits().disk().recoveredPerRecord() && !copies.isEmpty()) {
            DiskPlacement copy = copies.remove();
            step.add(copy.paged());
            serve.add(copy);
        }
        if (copies.isEmpty()) {
            toReport.remove(namespace);
        }
        unreported -= step.size();
        long remaining = unreported;
        context.counters().add(AgentCounter.DISK_COPIES_RECOVERED, step.size());
        context.append("", e -> new BlocksRecovered(e, Tier.DISK, namespace, step, remaining));
        for (DiskPlacement copy : serve) {
            index.reported(copy);
            markHost(copy, true);
        }
    }

    // --- placements that begin and end

    /** The bytes are on the disk, and an operation reports it in this step. */
    public void publish(DiskPlacement copy, long generation, int crc32c) {
        index.publish(copy, generation, crc32c);
        markHost(copy, true);
    }

    /** No lookup finds the placement from here on; the caller drops its bytes. */
    public void leave(DiskPlacement copy) {
        index.leave(copy);
        markHost(copy, false);
    }

    /** A placement has wrong bytes: its block does not serve there from now on. */
    public void condemn(DiskPlacement copy) {
        if (copy.state() == DiskState.SERVING) {
            context.counters().increment(AgentCounter.CHECKSUM_FAILURES);
            leave(copy);
            index.removalReported(copy);
            dropLater(copy, copy.generation());
            List<PagedBlock> gone = List.of(copy.paged());
            context.append("", e -> new BlocksEvicted(e, Tier.DISK, copy.namespace(), RemovalReason.CHECKSUM, gone));
        }
    }

    /** Whatever has come down of a copy that was in quarantine leaves the disk. */
    public void markIdle(DiskPlacement copy) {
        index.leave(copy);
        dropLater(copy, 0);
    }

    /** The bytes of a copy that leaves are dropped in the background. */
    public void dropLater(DiskPlacement copy, long generation) {
        remnants.add(new Remnant(copy.namespace(), copy.block().key(), generation, copy));
    }

    /** Under pressure the agent evicts first what another tier holds too. */
    private void markHost(DiskPlacement copy, boolean held) {
        context.pages().serving(copy.namespace(), copy.block().key()).ifPresent(page -> context.pages().markHeldOnDisk(page, held));
    }

    // --- in the background

    /** Does a step of the work that no command asks for. */
    public void work() {
        report();
        reportSeen();
        if (!remnants.isEmpty() && dropping.isEmpty() && context.nowMs() >= dropAtMs) {
            dropRemnants();
        }
    }

    /** When {@link #work} has something to do next. */
    @Override
    public long nextDeadlineMs() {
        boolean reports = allFound && !(toReport.isEmpty() && seen.isEmpty()) && context.phase() == AgentPhase.ON_LOG;
        boolean drops = dropAtMs > context.nowMs() && !remnants.isEmpty() && context.phase() != AgentPhase.STOPPED;
        return Math.min(reports ? Math.max(reportAtMs, context.nowMs()) : Long.MAX_VALUE, drops ? dropAtMs : Long.MAX_VALUE);
    }

    private void dropRemnants() {
        List<Remnant> unit = new ArrayList<>();
        var each = remnants.iterator();
        while (each.hasNext() && unit.size() < context.limits().units().blocks()) {
            Remnant next = each.next();
            boolean fits = unit.isEmpty() || unit.getFirst().namespace().equals(next.namespace());
            if (fits && next.idle()) {
                unit.add(next);
                each.remove();
            }
        }
        if (!unit.isEmpty()) {
            dropping = unit;
            dropUnit = context.nextUnit();
            context.ports().disk().drop(
                    dropUnit, unit.getFirst().namespace(), unit.stream().map(one -> new DiskObject(one.key(), one.generation())).toList());
        }
    }

    /** True when the unit was one of this class's own. */
    public boolean unitEnded(long unit, List<UnitResult> results) {
        if (unit != dropUnit || dropping.isEmpty()) {
            return false;
        }
        List<Remnant> ended = dropping;
        dropping = List.of();
        for (int i = 0; i < ended.size(); i++) {
            Remnant one = ended.get(i);
            if (i < results.size() && hasLeft(results.get(i))) {
                DiskPlacement copy = one.copy();
                if (copy != null) {
                    index.remove(copy);
                }
            } else {
                context.counters().increment(AgentCounter.DISK_DROPS_REPEATED);
                remnants.add(one);
                dropAtMs = context.nowMs() + context.limits().times().heartbeatMs();
            }
        }
        return true;
    }

    /** Whether a drop leaves nothing of that generation on the disk; no write of the key is under way meanwhile. */
    public static boolean hasLeft(UnitResult result) {
        return result.status() == BlockStatus.GONE
                || result.reason() == OperationReason.NOT_FOUND
                || result.reason() == OperationReason.STALE_GENERATION;
    }
}
