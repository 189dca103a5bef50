/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.page.Page;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PeerSource;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.PeerReadRequested;
import java.util.List;
import java.util.Optional;

/** Begins fetches for waiting requests, or refuses them. For the core's one thread. */
final class Prefetches {
    private record Refused(OperationReason why, String detail) {}

    private final Desk desk;
    private final Operations operations;
    private final Requests requests;
    private final HostFill fill;
    private final PeerChoice peers;

    Prefetches(Desk desk, Operations operations, Prefetch.Rooms rooms) {
        this.desk = desk;
        this.operations = operations;
        this.requests = rooms.requests();
        this.fill = rooms.fill();
        this.peers = rooms.peers();
    }

    void run(PrefetchBlocks command) {
        Optional<LiveAttempt> waiting =
                requests.waiting(command.request(), command.attempt()).filter(attempt -> attempt.fetch() == null);
        if (waiting.isEmpty()) {
            refuse(command, new Refused(OperationReason.MOVED_ON, "the attempt does not wait, or waits for another fetch"));
            return;
        }
        LiveAttempt attempt = waiting.get();
        Optional<Refused> refused = check(command, attempt);
        if (refused.isEmpty()) {
            List<Item> items = command.blocks().stream().map(Item::new).toList();
            Optional<List<PagedBlock>> pages =
                    fill.reserve(command.operation(), command.header().command(), command.namespace(), items);
            if (pages.isPresent()) {
                start(command, attempt, items, pages.get());
                return;
            }
            refused = Optional.of(new Refused(OperationReason.NO_ROOM, "no room for " + items.size() + " blocks on the host"));
        }
        refuse(command, refused.get());
        requests.ready(attempt, reasonFor(refused.get().why()));
    }

    private void start(PrefetchBlocks command, LiveAttempt attempt, List<Item> items, List<PagedBlock> pages) {
        for (Item item : items) {
            if (item.state() == Item.State.PENDING) {
                desk.disk.serving(command.namespace(), item.block.key())
                        .filter(copy -> copy.block().equals(item.block))
                        .ifPresent(copy -> {
                            item.on(copy);
                            desk.disk.index.pin(command.operation(), copy);
                        });
            }
        }
        borrow(command, items);
        Prefetch fetch = new Prefetch(desk, new Prefetch.Rooms(fill, requests, peers), attempt, command, items);
        desk.journal.started(command.operation());
        desk.tell(command.header().command(),
                e -> new OperationStarted(e, command.operation(), OperationKind.PREFETCH, command.namespace(), pages));
        attempt.fetch(fetch);
        operations.add(fetch);
    }

    /** Asks the other node for what it is to lend, by an event of its own; what the own disk has is read there. */
    private void borrow(PrefetchBlocks command, List<Item> items) {
        PeerSource peer = command.peer();
        if (peer == null) {
            return;
        }
        for (int i = 0; i < items.size(); i++) {
            Item item = items.get(i);
            if (command.sources().get(i) == Tier.HOST && item.state() == Item.State.PENDING && item.copy() == null) {
                item.lent();
            }
        }
        List<Block> lent = items.stream().filter(Item::isLent).map(item -> item.block).toList();
        if (!lent.isEmpty()) {
            peers.readBegins(peer.node());
            desk.tell("node/" + peer.node(), command.header().command(), e -> new PeerReadRequested(
                    e, command.operation(), desk.registration.node(), command.namespace(), lent));
        }
    }

    private boolean isSource(PrefetchBlocks command, Tier source) {
        boolean lent = source == Tier.HOST && command.peer() != null && desk.ports.peers().isPresent();
        return lent || source == Tier.STORE || source == Tier.DISK;
    }

    private Optional<Refused> check(PrefetchBlocks command, LiveAttempt attempt) {
        if (desk.phase() != AgentPhase.ON_LOG || operations.full() || desk.ports.events().congested()) {
            return Optional.of(new Refused(OperationReason.QUEUE_FULL, "the agent has all the work it can take"));
        }
        boolean known = command.sources().stream().allMatch(source -> isSource(command, source));
        if (!known || command.sources().size() != command.blocks().size()) {
            return Optional.of(new Refused(OperationReason.UNSUPPORTED, "this agent cannot fetch from " + command.sources()));
        }
        if (!ofThePrompt(command, attempt)) {
            return Optional.of(new Refused(OperationReason.UNSUPPORTED, "the blocks are not those of the prompt"));
        }
        for (PagedBlock below : command.buildsOn()) {
            if (!serves(command.namespace(), below)) {
                return Optional.of(new Refused(
                        OperationReason.PREFIX_GONE, "block " + below.block().index() + " does not serve in page " + below.page()));
            }
        }
        return Optional.empty();
    }

    /** Each block is where the prompt has it, so that nothing is ever stored under another index. */
    private static boolean ofThePrompt(PrefetchBlocks command, LiveAttempt attempt) {
        if (!command.namespace().equals(attempt.namespace()) || command.blocks().isEmpty()) {
            return false;
        }
        int last = -1;
        for (Block block : command.blocks()) {
            int index = block.index();
            if (index <= last || index >= attempt.reusable() || !attempt.keys().get(index).equals(block.key())
                    || !block.parent().equals(index == 0 ? Bytes.EMPTY : attempt.keys().get(index - 1))) {
                return false;
            }
            last = index;
        }
        return true;
    }

    private boolean serves(String namespace, PagedBlock below) {
        Optional<Page> page = desk.pages.serving(namespace, below.block().key());
        return page.isPresent() && page.get().number() == below.page() && page.get().generation() == below.generation();
    }

    private void refuse(PrefetchBlocks command, Refused refused) {
        desk.refuse(command.header(), command.operation(), refused.why(), refused.detail());
    }

    private static Offer.Reason reasonFor(OperationReason why) {
        if (why == OperationReason.NO_ROOM) {
            return Offer.Reason.NO_ROOM;
        }
        return why == OperationReason.QUEUE_FULL ? Offer.Reason.AGENT_BUSY : Offer.Reason.FETCH_FAILED;
    }
}
