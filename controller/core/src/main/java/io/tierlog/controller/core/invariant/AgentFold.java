/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.OperationStarted;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One incarnation of an agent, from its own events alone: which page of the host holds which block, which pages its operations use, what its disk
 * serves (I2, I3, I4, I9, I10). Confined to its node's fold.
 */
final class AgentFold {
    private final Findings findings;
    private final String sender;
    private final long incarnation;
    private final HostPages host;
    private final Resident disk;
    private final Map<String, Started> started = new LinkedHashMap<>();
    private final Map<Tier, Long> capacities;
    private long lastSequence;
    private @Nullable AgentHeartbeat lastBeat;
    private long lastBeatAt;

    /** An operation that has its pages. */
    private record Started(OperationKind kind, String namespace, List<PagedBlock> pages) {
        /** Whether the pages are those that it reads, else those that it fills. */
        boolean reads() {
            return kind == OperationKind.BACK_UP || kind == OperationKind.COPY;
        }

        boolean fills() {
            return kind == OperationKind.PREFETCH || kind == OperationKind.WRITE_BACK || kind == OperationKind.PROMOTE;
        }
    }

    AgentFold(Findings findings, String sender, long incarnation, Map<Tier, Long> capacities) {
        this.findings = findings;
        this.sender = sender;
        this.incarnation = incarnation;
        this.capacities = new EnumMap<>(capacities);
        this.host = new HostPages(findings, capacities.getOrDefault(Tier.HOST, 0L));
        this.disk = new Resident(findings, Tier.DISK);
    }

    /** Whether this incarnation sent the event. */
    boolean isSender(Envelope envelope) {
        return envelope.incarnation() == incarnation && envelope.sender().equals(sender);
    }

    String sender() {
        return sender;
    }

    void state(FoldBytes io) {
        lastSequence = io.int64(lastSequence);
        if (io.bool(lastBeat != null)) {
            lastBeat = io.record(AgentHeartbeat.TYPE, lastBeat);
        }
        lastBeatAt = io.int64(lastBeatAt);
        host.state(io);
        disk.state(io);
        io.map(started, io::text, operation -> new Started(
                io.symbol(OperationKind.class, operation == null ? null : operation.kind),
                io.text(operation == null ? null : operation.namespace),
                io.list(operation == null ? null : operation.pages, page -> io.record(PagedBlock.TYPE, page))));
    }

    void event(Event event, @Nullable Ending ending) {
        long sequence = event.envelope().sequence();
        if (sequence <= lastSequence) {
            // A repeat changes nothing.
            return;
        }
        lastSequence = sequence;
        if (event instanceof OperationStarted e) {
            started(e);
        } else if (event instanceof AgentHeartbeat e) {
            beat(e);
        } else if (ending != null) {
            ended(ending);
        } else {
            claimed(Claim.of(event));
        }
        if (!(event instanceof AgentHeartbeat)) {
            lastBeat = null;
        }
    }

    private void started(OperationStarted e) {
        Started operation = new Started(e.kind(), e.namespace(), e.pages());
        if (operation.fills()) {
            e.pages().forEach(page -> host.reserve(page, e.operation()));
        } else if (operation.reads()) {
            read(operation, 1);
        }
        if (started.put(e.operation(), operation) != null) {
            findings.say(Invariant.I2, "operation " + e.operation() + " starts twice");
        }
    }

    private void ended(Ending ending) {
        Started operation = started.remove(ending.operation());
        if (operation == null) {
            // The operation used no pages, or the report is repeated.
            if (ending.kind() == OperationKind.DROP) {
                dropped(ending);
            }
            return;
        }
        if (operation.fills()) {
            filled(operation, ending);
        } else if (operation.reads()) {
            read(operation, -1);
            copied(operation, ending);
        } else if (operation.kind == OperationKind.DROP) {
            dropped(ending);
        }
    }

    /** What has no page is read from the disk; pages of the device are not named. */
    private void read(Started operation, int more) {
        for (PagedBlock page : operation.pages) {
            if (page.page() < 0) {
                disk.read(operation.namespace, page, more);
            } else {
                host.read(operation.namespace, page, more);
            }
        }
    }

    private void filled(Started operation, Ending ending) {
        for (BlockResult result : ending.blocks()) {
            if (result.status() == BlockStatus.ARRIVED) {
                host.arrived(operation.namespace, result, ending.operation());
                if (result.source() == Tier.DISK) {
                    disk.checkContent(operation.namespace, result);
                }
            }
        }
        for (PagedBlock page : operation.pages) {
            host.release(page, ending.operation());
        }
    }

    private void copied(Started operation, Ending ending) {
        for (BlockResult result : ending.blocks()) {
            if (result.status() == BlockStatus.ARRIVED) {
                if (result.source() == Tier.DISK) {
                    disk.checkContent(operation.namespace, result);
                } else if (result.source() == Tier.HOST) {
                    host.checkContent(operation.namespace, result);
                }
                // What is in the store has no generation.
                if (operation.kind == OperationKind.COPY && result.generation() > 0) {
                    disk.serve(operation.namespace, paged(result));
                }
            }
        }
    }

    private void dropped(Ending ending) {
        List<PagedBlock> gone = new ArrayList<>(ending.blocks().size());
        for (BlockResult result : ending.blocks()) {
            if (result.status() == BlockStatus.GONE) {
                gone.add(paged(result));
            }
        }
        // The end of a cancelled drop does not name the tier; blocks on the disk have no page.
        boolean unnamed = ending.from() == Tier.UNKNOWN;
        boolean fromDisk = unnamed ? !gone.isEmpty() && gone.getFirst().page() < 0 : ending.from() == Tier.DISK;
        Resident tier = fromDisk ? disk : host.resident();
        tier.leave(ending.namespace(), gone, true);
    }

    private static PagedBlock paged(BlockResult result) {
        return new PagedBlock(result.block(), result.page(), result.generation(), result.crc32c());
    }

    /** Eviction may take only blocks that no other block extends. A corrupt block is removed wherever it is; its page stays with its readers. */
    private void claimed(Claim claim) {
        switch (claim) {
            case Claim.Serves s -> {
                if (s.tier() == Tier.DISK) {
                    s.blocks().forEach(block -> disk.serve(s.namespace(), block));
                } else if (s.tier() == Tier.HOST && capacities.containsKey(Tier.HOST)) {
                    s.blocks().forEach(block -> host.recovered(s.namespace(), block));
                }
            }
            case Claim.Left l -> {
                if (l.tier() == Tier.HOST) {
                    host.resident().leave(l.namespace(), l.blocks(), l.chosen());
                } else if (l.tier() == Tier.DISK) {
                    disk.leave(l.namespace(), l.blocks(), l.chosen());
                }
            }
            case Claim.Stored _, Claim.Nothing _ -> {}
        }
    }

    private void beat(AgentHeartbeat e) {
        lastBeat = e;
        lastBeatAt = findings.offset();
        for (TierUsage usage : e.usage()) {
            long sum = usage.freeBlocks() + usage.reservedBlocks() + usage.fillingBlocks() + usage.servingBlocks() + usage.leavingBlocks()
                    + usage.quarantinedBlocks();
            Long capacity = capacities.get(usage.tier());
            if (sum != usage.capacityBlocks() || capacity == null || capacity != usage.capacityBlocks()) {
                findings.say(Invariant.I4, usage.tier() + " of " + capacity + " pages: " + usage.freeBlocks() + " free + " + usage.reservedBlocks()
                        + " reserved + " + usage.fillingBlocks() + " filling + " + usage.servingBlocks() + " serving + " + usage.leavingBlocks()
                        + " leaving + " + usage.quarantinedBlocks() + " quarantined = " + sum + " of " + usage.capacityBlocks());
            }
            if (usage.tier() == Tier.HOST && usage.servingBlocks() != host.resident().size()) {
                findings.say(Invariant.I4, usage.servingBlocks() + " pages serve, and the events before say " + host.resident().size());
            }
        }
    }

    /** The agent's last report, after all commands, must show no pins. */
    void atRest(long lastCommand) {
        AgentHeartbeat beat = lastBeat;
        if (beat == null || beat.commandSequence() < lastCommand || beat.waitingRequests() > 0 || beat.activeOperations() > 0) {
            return;
        }
        for (TierUsage usage : beat.usage()) {
            if (usage.pinCount() != 0) {
                findings.sayOfEvent(Invariant.I1, lastBeatAt, "at rest " + usage.pinCount() + " pins are left on " + usage.tier() + " of " + sender);
            }
        }
    }
}
