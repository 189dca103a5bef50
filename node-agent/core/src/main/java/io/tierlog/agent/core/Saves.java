/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.DeviceBlock;
import io.tierlog.agent.core.AgentInput.SaveAsked;
import io.tierlog.agent.core.port.EngineReplies.BlockAnswer;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
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
import java.util.function.Predicate;

/**
 * Engines that want sealed blocks on the host now. Whether a block is written back is the controller's to decide: it is asked by an event, and the
 * call is answered when each block serves, when the write-back of it has ended without that, when a copy has taken it past the host to a colder
 * tier, or when the controller has refused it and nothing else brings it.
 *
 * <p>For the core's one thread.
 */
final class Saves {
    private static final BlockAnswer HERE = new BlockAnswer(true, OperationReason.COMPLETED);

    /** One call: what is known of each of its blocks, in their order. */
    private static final class Save {
        final SaveAsked asked;
        final SequencedMap<Bytes, Optional<BlockAnswer>> blocks = new LinkedHashMap<>();
        /** What the controller has refused, and something else may bring. */
        final SequencedMap<Bytes, OperationReason> refused = new LinkedHashMap<>();

        Save(SaveAsked asked) {
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

    private final Desk desk;
    private final Engines engines;
    private final DoorCalls door;
    private final Operations operations;
    private final SequencedMap<String, Save> open = new LinkedHashMap<>();

    Saves(Desk desk, Engines engines, DoorCalls door, Operations operations) {
        this.desk = desk;
        this.engines = engines;
        this.door = door;
        this.operations = operations;
    }

    void run(SaveAsked in) {
        Optional<LiveAttempt> found = door.known(in.call(), in.attempt());
        if (found.isEmpty()) {
            return;
        }
        LiveAttempt attempt = found.get();
        Optional<String> wrong =
                DoorCheck.run(in.blocks(), desk.limits.bounds().keysPerRequest(), desk.device.capacity()).or(() -> wrongHere(attempt, in));
        if (wrong.isPresent()) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, wrong.get(), false);
        } else if (desk.phase() != AgentPhase.ON_LOG || !attempt.logged()) {
            engines.refuse(in.call(), Refusal.NOT_ON_THE_LOG, "the agent, or this attempt, is not on the log: nobody can decide", true);
        } else if (open.size() >= desk.limits.door().calls() || desk.ports.events().congested()) {
            engines.refuse(in.call(), Refusal.BUSY, "too many saves wait, or the log does not take more", true);
        } else {
            ask(in, attempt);
        }
    }

    private Optional<String> wrongHere(LiveAttempt attempt, SaveAsked in) {
        if (attempt.state() != LiveAttempt.State.ANSWERED || !attempt.namespace().equals(in.namespace())) {
            return Optional.of("the attempt is " + attempt.state() + ", of namespace " + attempt.namespace());
        }
        return in.blocks().stream()
                .filter(block -> !sealed(attempt, block))
                .findFirst()
                .map(block -> "block " + block.index() + " was not sealed by the attempt in page " + block.page());
    }

    private static boolean sealed(LiveAttempt attempt, DeviceBlock block) {
        PagedBlock known = attempt.sealed().get(block.index());
        return known != null && known.block().key().equals(block.key()) && known.page() == block.page()
                && known.generation() == block.generation();
    }

    private void ask(SaveAsked in, LiveAttempt attempt) {
        Save save = new Save(in);
        List<PagedBlock> missing = new ArrayList<>();
        for (DeviceBlock block : in.blocks()) {
            if (serves(in, block.key())) {
                save.blocks.put(block.key(), Optional.of(HERE));
            } else {
                missing.addAll(attempt.sealed().subMap(block.index(), block.index() + 1).values());
            }
        }
        if (missing.isEmpty()) {
            answer(save);
            return;
        }
        String name = desk.nextSave();
        open.put(name, save);
        String request = in.attempt().request();
        int number = in.attempt().attempt();
        Bytes root = attempt.root();
        desk.tell("", e -> new SaveRequested(e, name, request, number, in.namespace(), root, missing));
    }

    private boolean serves(SaveAsked in, Bytes key) {
        return desk.pages.serving(in.namespace(), key).isPresent();
    }

    private void answer(Save save) {
        desk.ports.engines().saved(save.asked.call(), save.blocks.values().stream().map(Optional::orElseThrow).toList());
    }

    /** An operation has ended: what it brought serves, what it was to bring and did not has failed. */
    void ended(Session session) {
        if (brings(session) && !open.isEmpty()) {
            for (Item item : session.items) {
                settle(session.namespace, item.block.key(), session.kind() == OperationKind.WRITE_BACK, item.reason());
            }
        } else if (session instanceof Copy copy && copy.fromDevice() && !open.isEmpty()) {
            copy.items.forEach(item -> settleColder(copy.namespace, item));
        }
    }

    /** A mark has sent the block past the host: it is saved where the policy wants it. */
    private void settleColder(String namespace, Item item) {
        if (!isOnItsWay(namespace, item.block.key())) {
            BlockAnswer answer = new BlockAnswer(item.done(), item.done() ? OperationReason.COMPLETED : item.reason());
            for (String name : List.copyOf(open.keySet())) {
                Save save = open.get(name);
                if (save != null && save.asked.namespace().equals(namespace) && save.waitsFor(item.block.key())) {
                    save.blocks.put(item.block.key(), Optional.of(answer));
                    close(name, save);
                }
            }
        }
    }

    private static boolean brings(Session session) {
        return session.kind() == OperationKind.WRITE_BACK || session instanceof Fetch;
    }

    /** {@code last} when nothing else is to bring the block to the host; what was refused waits for no more than what is on its way. */
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
    void refused(RefuseSave command) {
        Save save = open.get(command.save());
        if (save == null) {
            return; // answered, or nobody waits for it any more
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
                .filter(session -> brings(session) && session.namespace.equals(namespace))
                .anyMatch(session -> session.items.stream().anyMatch(item -> item.block.key().equals(key)));
    }

    void callGone(long call) {
        open.values().removeIf(save -> save.asked.call() == call);
    }

    void sessionGone(String session) {
        refuseAll(save -> save.asked.attempt().session().equals(session), Refusal.UNKNOWN_SESSION, "the session has ended");
    }

    /** Nobody decides any more. */
    void refuseAll() {
        refuseAll(any -> true, Refusal.CLOSING, "the agent goes away");
    }

    private void refuseAll(Predicate<Save> which, Refusal refusal, String detail) {
        List<Save> over = open.values().stream().filter(which).toList();
        open.values().removeAll(over);
        over.forEach(save -> engines.refuse(save.asked.call(), refusal, detail, false));
    }
}
