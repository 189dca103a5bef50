/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.OperationState;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.OperationEnded;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.OperationOverdue;
import io.tierlog.schemas.decision.OrphanAdopted;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Operations of a node that are in progress: one beginning, one end, and the counts add up (I12). Confined to its node's fold. */
final class Operations {
    private final NodeFold node;
    private final PartitionFold.Counts counts;
    private final Map<String, Live> live = new LinkedHashMap<>();
    private long commandSequence;

    /** One in progress: as issued, and where; whether the agent must see on another tier what it drops. */
    record Live(OperationIssued issued, long issuedAt, boolean mustSee) {
        OperationKind kind() {
            return issued.kind();
        }
    }

    Operations(NodeFold node, PartitionFold.Counts counts) {
        this.node = node;
        this.counts = counts;
    }

    void state(FoldBytes io) {
        commandSequence = io.int64(commandSequence);
        io.map(live, io::text, one -> new Live(
                io.record(OperationIssued.TYPE, one == null ? null : one.issued),
                io.int64(one == null ? 0 : one.issuedAt),
                io.bool(one != null && one.mustSee)));
    }

    @Nullable Live find(String operation) {
        return live.get(operation);
    }

    long unfinished() {
        return live.size();
    }

    /** Highest number of a command that an operation was issued with. */
    long commandSequence() {
        return commandSequence;
    }

    /** Keys of the blocks that operations in progress bring to the node's tiers. Trade-off: it looks at every block of every operation. */
    Set<Bytes> coming(String namespace) {
        Set<Bytes> coming = new LinkedHashSet<>();
        for (Live one : live.values()) {
            boolean brings = one.kind() != OperationKind.DROP && one.kind() != OperationKind.BACK_UP;
            if (brings && one.issued.namespace().equals(namespace)) {
                one.issued.blocks().forEach(block -> coming.add(block.key()));
            }
        }
        return coming;
    }

    void issued(OperationIssued f, Cause cause, Policy policy) {
        counts.started++;
        boolean mustSee = f.kind() == OperationKind.DROP && f.reliesOn() != Tier.UNKNOWN;
        if (live.put(f.operation(), new Live(f, node.findings.offset(), mustSee)) != null || !cause.gives(node.aggregate, f.operation())) {
            node.findings.say(Invariant.I12, "operation " + f.operation() + " begins a second time, or its id is not of the event it answers");
        }
        commandRises(f.commandSequence(), true);
        String request = f.request();
        if (f.kind() == OperationKind.PREFETCH && (request == null || node.requests.find(request, f.attempt()) == null)) {
            node.findings.say(Invariant.I5, "a fetch is issued for " + request + ", which has ended or never began");
        }
        if (f.kind() == OperationKind.DROP) {
            node.copies.checkDrop(f, policy);
        }
    }

    /** Checks the last command number that a fact carries, and whether the fact numbered a command. */
    void commandRises(long sequence, boolean given) {
        if (sequence < commandSequence || (given && sequence == commandSequence)) {
            node.findings.say(Invariant.I12, "its command has number " + sequence + ", and " + commandSequence + " was given before");
        }
        commandSequence = Math.max(commandSequence, sequence);
    }

    void overdue(OperationOverdue f, long timeMs) {
        Live operation = live.get(f.operation());
        if (operation == null) {
            node.findings.say(Invariant.I12, "operation " + f.operation() + " is overdue, and it has ended or never began");
        } else if (timeMs < operation.issued.deadlineMs()) {
            node.findings.say(Invariant.I12, "operation " + f.operation() + " is overdue at " + timeMs + " ms, and is due at "
                    + operation.issued.deadlineMs());
        }
        commandRises(f.commandSequence(), true);
    }

    void ended(OperationEnded f, Cause cause) {
        count(f.state());
        Live operation = live.remove(f.operation());
        if (operation == null) {
            node.findings.say(Invariant.I12, "operation " + f.operation() + " ends, and it has ended before or never began");
            return;
        }
        OperationIssued issued = operation.issued;
        if (operation.mustSee && cause.ending != null && cause.ending.operation().equals(f.operation())) {
            node.copies.checkSeen(issued, cause.ending);
        }
        if (f.kind() != issued.kind()) {
            node.findings.say(Invariant.I12, "operation " + f.operation() + " was a " + issued.kind() + " and ends as a " + f.kind());
        }
        if (f.failedBlocks() != undone(issued.blocks(), f, cause.ending)) {
            node.findings.say(Invariant.I12, "operation " + f.operation() + " had " + issued.blocks().size() + " blocks; " + f.doneBlocks()
                    + " were done and " + f.failedBlocks() + " were not");
        }
        if (f.state() == OperationState.FENCED) {
            if (!node.isStale(issued.envelope().incarnation())) {
                node.findings.say(Invariant.I12, "operation " + f.operation() + " is fenced, and its incarnation lives");
            }
        } else if (f.reason() == OperationReason.COMMAND_CONFLICT && f.state() == OperationState.FAILED && f.doneBlocks() == 0) {
            // The agent ran another operation under this id, and reports only the result of that one.
            if (cause.ending == null || !cause.ending.operation().equals(f.operation())) {
                node.findings.say(Invariant.I12, "operation " + f.operation() + " fails for a conflict, and the agent does not speak of it");
            }
        } else if (f.reason() == OperationReason.COPY_RESULT_MISMATCH && f.state() == OperationState.FAILED && f.doneBlocks() == 0) {
            // The agent reports success but names other blocks: its report about the operation is not applied.
            if (cause.ending == null || !cause.ending.operation().equals(f.operation()) || names(cause.ending, issued.blocks())) {
                node.findings.say(Invariant.I12, "operation " + f.operation() + " fails for a mismatch, and the agent named its blocks");
            }
        } else if (!isReported(cause, f.operation(), f.state(), f.doneBlocks(), f.movedBytes())) {
            node.findings.say(Invariant.I12, "operation " + f.operation() + " ends otherwise than the agent reported");
        }
    }

    /** Whether an agent names the blocks of an operation, each once and no others. */
    private static boolean names(Ending reported, List<Block> blocks) {
        List<Block> named = reported.blocks().stream().map(BlockResult::block).toList();
        return named.size() == blocks.size() && named.containsAll(blocks);
    }

    /** How many of the operation's blocks were not done; the agent may have run it with others. */
    private static int undone(List<Block> blocks, OperationEnded f, @Nullable Ending reported) {
        boolean byNumber = f.kind() == OperationKind.BACK_UP || f.reason() == OperationReason.COMMAND_CONFLICT
                || f.reason() == OperationReason.COPY_RESULT_MISMATCH;
        if (reported == null || byNumber || f.state() == OperationState.FENCED) {
            return Math.max(0, blocks.size() - f.doneBlocks());
        }
        int undone = blocks.size();
        for (int i = 0; i < reported.blocks().size(); i++) {
            BlockResult result = reported.blocks().get(i);
            boolean its = (i < blocks.size() && blocks.get(i).equals(result.block())) || blocks.contains(result.block());
            undone -= its && Ending.isDone(result) ? 1 : 0;
        }
        return undone;
    }

    void adopted(OrphanAdopted f, Cause cause) {
        counts.started++;
        count(f.state());
        if (!isReported(cause, f.operation(), f.state(), f.doneBlocks(), f.movedBytes())) {
            node.findings.say(Invariant.I12, "operation " + f.operation() + " is recorded otherwise than the agent reported");
        }
    }

    private static boolean isReported(Cause cause, String operation, OperationState state, int doneBlocks, long movedBytes) {
        Ending reported = cause.ending;
        return reported != null && reported.operation().equals(operation) && reported.state() == state && reported.doneBlocks() == doneBlocks
                && reported.movedBytes() == movedBytes;
    }

    private void count(OperationState state) {
        switch (state) {
            case DONE -> counts.done++;
            case FAILED -> counts.failed++;
            case CANCELLED -> counts.cancelled++;
            case FENCED -> counts.fenced++;
            case ISSUED, OVERDUE, UNKNOWN -> node.findings.say(Invariant.I12, "an operation does not end as " + state);
        }
    }

    void swept() {
        live.forEach((id, one) -> {
            if (node.isStale(one.issued.envelope().incarnation())) {
                node.findings.say(Invariant.I12, "operation " + id + " of an ended incarnation has no end after the sweep");
            }
        });
    }

    void atRest() {
        live.forEach((id, one) -> node.findings.sayOfDecision(Invariant.I6, one.issuedAt, "at rest operation " + id + " has no end"));
    }

    /** Tier that an operation in progress writes to; UNKNOWN when the operation is not recorded. */
    Tier destination(String operation) {
        Live one = live.get(operation);
        return one == null ? Tier.UNKNOWN : one.issued.to();
    }

    /** Tier that an operation in progress takes its bytes from; UNKNOWN when the operation is not recorded. */
    Tier origin(String operation) {
        Live one = live.get(operation);
        return one == null ? Tier.UNKNOWN : one.issued.from();
    }
}
