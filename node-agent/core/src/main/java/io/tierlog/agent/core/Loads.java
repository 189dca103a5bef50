/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.DeviceBlock;
import io.tierlog.agent.core.AgentInput.LoadAsked;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.util.List;
import java.util.Optional;

/**
 * Begins loads, or refuses them. A load refused for good ends the offer: the engine computes, and nothing stays pinned for a load that never
 * comes. For the core's one thread.
 */
final class Loads {
    private final Desk desk;
    private final Operations operations;
    private final Engines engines;
    private final Requests requests;
    private final DoorCalls door;

    Loads(Desk desk, Operations operations, Engines engines, Requests requests, DoorCalls door) {
        this.desk = desk;
        this.operations = operations;
        this.engines = engines;
        this.requests = requests;
        this.door = door;
    }

    void run(LoadAsked in) {
        Optional<LiveAttempt> found = door.known(in.call(), in.attempt());
        if (found.isEmpty()) {
            return;
        }
        LiveAttempt attempt = found.get();
        if (!desk.takesWork()) {
            engines.refuse(in.call(), Refusal.CLOSING, "The agent goes away", false);
            endOffer(attempt);
        } else if (attempt.load() != null || operations.full()) {
            engines.refuse(in.call(), Refusal.BUSY, "a load of the attempt is under way, or the agent has all the work it can take", true);
        } else if (attempt.state() != LiveAttempt.State.ANSWERED) {
            engines.refuse(in.call(), Refusal.NOT_OFFERED, "the attempt is " + attempt.state(), false);
        } else {
            check(in, attempt);
        }
    }

    private void check(LoadAsked in, LiveAttempt attempt) {
        Optional<String> wrong = DoorCheck.run(in.blocks(), desk.limits.bounds().keysPerRequest(), desk.device.capacity())
                .or(() -> wrongHere(in, attempt));
        if (wrong.isPresent()) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, wrong.get(), false);
            endOffer(attempt);
            return;
        }
        int from = attempt.offer().firstIndex();
        int to = from + attempt.offer().sources().size();
        if (in.blocks().getFirst().index() < from || in.blocks().getLast().index() >= to) {
            engines.refuse(in.call(), Refusal.NOT_OFFERED, "offered are the blocks " + from + " to " + (to - 1), false);
            endOffer(attempt);
            return;
        }
        List<Item> items = in.blocks().stream()
                .map(block -> new Item(named(attempt, block), block.page(), block.generation()))
                .toList();
        boolean here = true;
        for (Item item : items) {
            Optional<Page> page = desk.pages.serving(attempt.namespace(), item.block.key());
            here = here && page.isPresent();
            if (here) {
                item.on(page.orElseThrow());
            } else {
                item.failed(OperationReason.NOT_SERVING); // its lease has ended since: what is before it can still be loaded
            }
        }
        LoadBack load = new LoadBack(desk, requests, attempt, in.call(), items);
        load.pinBothEnds();
        attempt.load(load);
        operations.add(load);
    }

    private static Block named(LiveAttempt attempt, DeviceBlock block) {
        Bytes parent = block.index() == 0 ? Bytes.EMPTY : attempt.keys().get(block.index() - 1);
        return new Block(block.index(), block.key(), parent);
    }

    private Optional<String> wrongHere(LoadAsked in, LiveAttempt attempt) {
        if (!attempt.namespace().equals(in.namespace())) {
            return Optional.of("the attempt is of namespace " + attempt.namespace());
        }
        for (DeviceBlock block : in.blocks()) {
            if (block.index() >= attempt.keys().size() || !attempt.keys().get(block.index()).equals(block.key())) {
                return Optional.of("block " + block.index() + " has another key than in the prompt");
            }
            if (desk.device.pinned(block.page())) {
                return Optional.of("page " + block.page() + " is pinned: wait for its Released notice");
            }
        }
        return Optional.empty();
    }

    private void endOffer(LiveAttempt attempt) {
        if (attempt.load() == null) {
            requests.releasePins(attempt);
        }
    }
}
