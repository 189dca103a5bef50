/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.call;

import io.tierlog.agent.core.api.AgentInput.CallGone;
import io.tierlog.agent.core.api.AgentInput.DeviceBlock;
import io.tierlog.agent.core.api.AgentInput.SaveCalled;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.context.Component;
import io.tierlog.agent.core.engine.EngineCallChecks;
import io.tierlog.agent.core.engine.EngineSessions;
import io.tierlog.agent.core.operation.BlockTransfer;
import io.tierlog.agent.core.operation.Fetch;
import io.tierlog.agent.core.operation.Operations;
import io.tierlog.agent.core.operation.TierCopy;
import io.tierlog.agent.core.operation.TransferSession;
import io.tierlog.agent.core.port.EngineReplies.BlockAnswer;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.request.LiveAttempt;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.command.RefuseSave;
import io.tierlog.schemas.event.SaveRequested;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.function.Predicate;

/**
 * Calls that want sealed blocks on the host now. The controller decides whether a block is written back: an event requests it. The call is
 * answered when each block serves, when its write-back has failed, when a copy has taken it to a colder tier, or when the controller has refused
 * it and no other operation brings it.
 *
 * <p>For the core's one thread.
 */
public final class SaveCalls implements Component {
    private static final BlockAnswer HERE = new BlockAnswer(true, OperationReason.COMPLETED);
    private static final BlockAnswer NOT_TAKEN = new BlockAnswer(false, OperationReason.UNSUPPORTED);

    /** One call: the answer for each of its blocks, as far as there is one, in their order. */
    private static final class Save {
        final SaveCalled asked;
        final SequencedMap<Bytes, Optional<BlockAnswer>> blocks = new LinkedHashMap<>();
        /** What the controller has refused, and something else may bring. */
        final SequencedMap<Bytes, OperationReason> refused = new LinkedHashMap<>();

        Save(SaveCalled asked) {
            this.asked = asked;
            asked.blocks().forEach(block -> blocks.put(block.key(), Optional.empty()));
        }

        boolean waitsFor(Bytes key) {
            return blocks.containsKey(key) && blocks.getOrDefault(key, Optional.empty()).isEmpty();
        }

        boolean settled() {
            return blocks.values().stream().allMatch(Optional::isPresent);
        }
    }

    private final AgentContext context;
    private final EngineSessions engines;
    private final EngineCalls engineCalls;
    private final Operations operations;
    private final SequencedMap<String, Save> open = new LinkedHashMap<>();

    public SaveCalls(AgentContext context, EngineSessions engines, EngineCalls engineCalls, Operations operations) {
        this.context = context;
        this.engines = engines;
        this.engineCalls = engineCalls;
        this.operations = operations;
    }

    public void run(SaveCalled in) {
        Optional<LiveAttempt> found = engineCalls.known(in.call(), in.attempt());
        if (found.isEmpty()) {
            return;
        }
        LiveAttempt attempt = found.get();
        Optional<String> wrong =
                EngineCallChecks.run(in.blocks(), context.limits().bounds().blocksPerCall(), context.device().capacity())
                        .or(() -> wrongHere(attempt, in));
        if (wrong.isPresent()) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, wrong.get(), false);
        } else if (context.phase() != AgentPhase.ON_LOG || !attempt.logged()) {
            engines.refuse(in.call(), Refusal.NOT_ON_THE_LOG, "the agent, or this attempt, is not on the log yet", true);
        } else if (open.size() >= context.limits().engines().calls() || context.ports().events().congested()) {
            engines.refuse(in.call(), Refusal.BUSY, "too many saves wait, or the log is congested", true);
        } else {
            ask(in, attempt);
        }
    }

    private Optional<String> wrongHere(LiveAttempt attempt, SaveCalled in) {
        if (attempt.state() != LiveAttempt.State.ANSWERED || !attempt.namespace().equals(in.namespace())) {
            return Optional.of("the attempt is " + attempt.state() + ", of namespace " + attempt.namespace());
        }
        return in.blocks().stream()
                .filter(block -> !isIn(attempt.sealed(), block) && !isIn(attempt.notTaken(), block))
                .findFirst()
                .map(block -> "block " + block.index() + " was not sealed by the attempt in page " + block.page());
    }

    private static boolean isIn(SortedMap<Integer, PagedBlock> blocks, DeviceBlock block) {
        PagedBlock known = blocks.get(block.index());
        return known != null && known.block().key().equals(block.key()) && known.page() == block.page()
                && known.generation() == block.generation();
    }

    private void ask(SaveCalled in, LiveAttempt attempt) {
        Save save = new Save(in);
        List<PagedBlock> missing = new ArrayList<>();
        for (DeviceBlock block : in.blocks()) {
            if (serves(in, block.key())) {
                save.blocks.put(block.key(), Optional.of(HERE));
            } else if (isIn(attempt.notTaken(), block)) {
                save.blocks.put(block.key(), Optional.of(NOT_TAKEN));
            } else {
                missing.addAll(attempt.sealed().subMap(block.index(), block.index() + 1).values());
            }
        }
        if (missing.isEmpty()) {
            answer(save);
            return;
        }
        String name = context.nextSave();
        open.put(name, save);
        String request = in.attempt().request();
        int number = in.attempt().attempt();
        Bytes root = attempt.root();
        context.append("", e -> new SaveRequested(e, name, request, number, in.namespace(), root, missing));
    }

    private boolean serves(SaveCalled in, Bytes key) {
        return context.pages().serving(in.namespace(), key).isPresent();
    }

    private void answer(Save save) {
        context.ports().engines().saved(save.asked.call(), save.blocks.values().stream().map(Optional::orElseThrow).toList());
    }

    /** An operation has ended: what it brought serves, what it was to bring and did not has failed. */
    public void ended(TransferSession session) {
        if (brings(session) && !open.isEmpty()) {
            for (BlockTransfer item : session.items()) {
                settle(session.namespace(), item.block().key(), session.kind() == OperationKind.WRITE_BACK, item.reason());
            }
        } else if (session instanceof TierCopy copy && copy.fromDevice() && !open.isEmpty()) {
            copy.items().forEach(item -> settleColder(copy.namespace(), item));
        }
    }

    /** A mark has sent the block to a colder tier than the host: it is saved where the policy wants it. */
    private void settleColder(String namespace, BlockTransfer item) {
        if (!isOnItsWay(namespace, item.block().key())) {
            BlockAnswer answer = new BlockAnswer(item.done(), item.done() ? OperationReason.COMPLETED : item.reason());
            for (String name : List.copyOf(open.keySet())) {
                Save save = open.get(name);
                if (save != null && save.asked.namespace().equals(namespace) && save.waitsFor(item.block().key())) {
                    save.blocks.put(item.block().key(), Optional.of(answer));
                    close(name, save);
                }
            }
        }
    }

    private static boolean brings(TransferSession session) {
        return session.kind() == OperationKind.WRITE_BACK || session instanceof Fetch;
    }

    /** {@code last} when no other operation brings the block to the host; a refused block waits for operations under way only. */
    private void settle(String namespace, Bytes key, boolean last, OperationReason why) {
        for (String name : List.copyOf(open.keySet())) {
            Save save = open.get(name);
            if (save != null && save.asked.namespace().equals(namespace) && save.waitsFor(key)) {
                if (serves(save.asked, key)) {
                    save.blocks.put(key, Optional.of(HERE));
                } else if (last) {
                    save.blocks.put(key, Optional.of(new BlockAnswer(false, why)));
                } else if (save.refused.containsKey(key) && !isOnItsWay(namespace, key)) {
                    save.blocks.put(key, Optional.of(new BlockAnswer(false, save.refused.getOrDefault(key, why))));
                }
                close(name, save);
            }
        }
    }

    private void close(String name, Save save) {
        if (save.settled()) {
            open.remove(name);
            answer(save);
        }
    }

    /** The controller issues no write-back for these: what no operation under way brings is not coming. */
    public void refused(RefuseSave command) {
        Save save = open.get(command.save());
        if (save == null) {
            return; // answered, or its caller is gone
        }
        for (Block block : command.blocks()) {
            Bytes key = block.key();
            if (save.waitsFor(key) && serves(save.asked, key)) {
                save.blocks.put(key, Optional.of(HERE));
            } else if (save.waitsFor(key) && isOnItsWay(save.asked.namespace(), key)) {
                save.refused.put(key, command.reason());
            } else if (save.waitsFor(key)) {
                save.blocks.put(key, Optional.of(new BlockAnswer(false, command.reason())));
            }
        }
        close(command.save(), save);
    }

    private boolean isOnItsWay(String namespace, Bytes key) {
        return operations.all().stream()
                .filter(session -> brings(session) && session.namespace().equals(namespace))
                .anyMatch(session -> session.items().stream().anyMatch(item -> item.block().key().equals(key)));
    }

    @Override
    public void callGone(CallGone gone) {
        open.values().removeIf(save -> save.asked.call() == gone.call());
    }

    @Override
    public void sessionGone(String session) {
        refuseAll(save -> save.asked.attempt().session().equals(session), Refusal.UNKNOWN_SESSION, "the session has ended");
    }

    /** Refuses all: no command will come. */
    public void refuseAll(Refusal refusal, String detail) {
        refuseAll(any -> true, refusal, detail);
    }

    private void refuseAll(Predicate<Save> which, Refusal refusal, String detail) {
        List<Save> over = open.values().stream().filter(which).toList();
        open.values().removeAll(over);
        over.forEach(save -> engines.refuse(save.asked.call(), refusal, detail, refusal == Refusal.NOT_ON_THE_LOG));
    }
}
