/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.command;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.call.SaveCalls;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.context.AgentContext.Terminal;
import io.tierlog.agent.core.journal.CommandDigest;
import io.tierlog.agent.core.journal.CommandJournal;
import io.tierlog.agent.core.operation.Operations;
import io.tierlog.agent.core.operation.TransferSession;
import io.tierlog.agent.core.operation.WriteBack;
import io.tierlog.agent.core.peer.PeerReadLeases;
import io.tierlog.agent.core.request.Requests;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DeleteObjects;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.command.GrantPeerRead;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.PromoteBlocks;
import io.tierlog.schemas.command.RefusePeerRead;
import io.tierlog.schemas.command.RefuseSave;
import io.tierlog.schemas.command.ReleasePins;
import io.tierlog.schemas.command.ReleaseRequest;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.OperationCancelled;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Commands in the order of the log. Each runs once. A repeat gets the same answer from the journal. A late command, or one that contradicts an
 * earlier one, is refused. For the core's one thread.
 */
public final class Commands {
    private final AgentContext context;
    private final Operations operations;
    private final Requests requests;
    private final PrefetchCommands prefetches;
    private final PromoteCommands promotes;
    private final WriteBackCommands writeBacks;
    private final BackUpCommands backUps;
    private final CopyCommands copies;
    private final DropCommands drops;
    private final SaveCalls saves;
    private final PeerReadLeases peerReads;

    public Commands(AgentContext context, Operations operations, Requests requests, Starters starters) {
        this.context = context;
        this.operations = operations;
        this.requests = requests;
        this.prefetches = starters.prefetches();
        this.promotes = starters.promotes();
        this.writeBacks = starters.writeBacks();
        this.backUps = starters.backUps();
        this.copies = starters.copies();
        this.drops = starters.drops();
        this.saves = starters.saves();
        this.peerReads = starters.peerReads();
    }

    /** The classes that begin operations, and those that wait for commands. */
    public record Starters(
            PrefetchCommands prefetches,
            PromoteCommands promotes,
            WriteBackCommands writeBacks,
            BackUpCommands backUps,
            CopyCommands copies,
            DropCommands drops,
            SaveCalls saves,
            PeerReadLeases peerReads) {}

    /** True when the command is for this incarnation of this node. */
    public boolean isForUs(Command command) {
        boolean ours = context.onTheLog()
                && context.phase() != AgentPhase.STOPPED
                && command.envelope().incarnation() == context.incarnation()
                && command.envelope().aggregate().equals(context.aggregate());
        if (!ours) {
            context.counters().increment(AgentCounter.COMMANDS_IGNORED);
        }
        return ours;
    }

    /** Runs, repeats or refuses a command that is for us and has a number. */
    public void take(Command command) {
        CommandHeader header = command.header();
        String operation = operationOf(command);
        CommandJournal.Verdict verdict = context.journal().admit(header.commandSequence(), CommandDigest.of(command));
        CommandJournal.State known = operation == null ? CommandJournal.State.UNKNOWN : context.journal().state(operation);
        switch (verdict) {
            case RUN -> {
                if (known == CommandJournal.State.NEVER_STARTED) {
                    context.refuse(header, operation, OperationReason.STALE_COMMAND, "its operation was cancelled before it came");
                } else if (known != CommandJournal.State.UNKNOWN) {
                    repeat(command, operation);
                } else {
                    context.counters().increment(AgentCounter.COMMANDS_RUN);
                    run(command);
                }
            }
            case REPEAT -> repeat(command, operation);
            case STALE -> {
                if (known == CommandJournal.State.RUNNING || known == CommandJournal.State.ENDED) {
                    repeat(command, operation);
                } else {
                    context.refuse(header, operation, OperationReason.STALE_COMMAND, "command " + context.journal().highest() + " was run already");
                }
            }
            case CONFLICT -> {
                // An operation in the journal has, or will have, a terminal event of its own.
                boolean fails = known == CommandJournal.State.UNKNOWN;
                context.refuse(header, fails ? operation : null, OperationReason.COMMAND_CONFLICT,
                        "command " + header.commandSequence() + " came with other content before");
            }
        }
    }

    private void repeat(Command command, @Nullable String operation) {
        context.counters().increment(AgentCounter.COMMANDS_REPEATED);
        if (command instanceof CancelOperation cancel) {
            cancel(cancel);
        } else if (operation != null) {
            answerAgain(operation);
        }
    }

    private void answerAgain(String operation) {
        Optional<Terminal> answer = context.journal().answer(operation);
        answer.ifPresent(context::append);
    }

    private void run(Command command) {
        switch (command) {
            case PrefetchBlocks prefetch -> prefetches.run(prefetch);
            case WriteBackBlocks writeBack -> writeBacks.run(writeBack);
            case BackUpBlocks backUp -> backUps.run(backUp);
            case CopyBlocks copy -> copies.run(copy);
            case DropBlocks drop -> drops.run(drop);
            case ResumeRequest resume -> requests.resume(resume);
            case ReleaseRequest release ->
                requests.find(release.request(), release.attempt()).ifPresent(requests::releaseFinished);
            case RefuseSave refusal -> saves.refused(refusal);
            case ReleasePins release -> {
                peerReads.released(release.pin());
                backUps.releaseEarlier(release.pin());
            }
            case CancelOperation cancel -> cancel(cancel);
            case PromoteBlocks promote -> promotes.run(promote);
            case GrantPeerRead grant -> peerReads.grant(grant);
            case RefusePeerRead refusal -> peerReads.refuse(refusal);
            case FenceAgent _, DeleteObjects _ -> throw new IllegalStateException("Not numbered: " + command);
        }
    }

    private void cancel(CancelOperation command) {
        String operation = command.operation();
        Optional<TransferSession> session = operations.find(operation);
        if (session.isPresent()) {
            if (session.get().state() == TransferSession.State.WAITING_FOR_PAGES && session.get() instanceof WriteBack queued) {
                writeBacks.cancelQueued(queued);
            } else {
                operations.cancel(session.get(), OperationReason.CANCELLED);
            }
        } else if (context.journal().state(operation) == CommandJournal.State.UNKNOWN) {
            Terminal never = new Terminal(command.header().command(),
                    e -> new OperationCancelled(e, operation, OperationReason.NEVER_STARTED, "", List.of()));
            context.journal().neverStarted(operation, never);
            context.append(never);
        } else {
            answerAgain(operation);
        }
    }

    /** The operation a command begins, or null. */
    private static @Nullable String operationOf(Command command) {
        return switch (command) {
            case PrefetchBlocks c -> c.operation();
            case WriteBackBlocks c -> c.operation();
            case BackUpBlocks c -> c.operation();
            case CopyBlocks c -> c.operation();
            case DropBlocks c -> c.operation();
            case ResumeRequest c -> null;
            case ReleaseRequest c -> null;
            case RefuseSave c -> null;
            case ReleasePins c -> null;
            case CancelOperation c -> null;
            case PromoteBlocks c -> c.operation();
            case GrantPeerRead c -> null;
            case RefusePeerRead c -> null;
            case FenceAgent c -> null;
            case DeleteObjects c -> null;
        };
    }
}
