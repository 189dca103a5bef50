/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.command;

import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.operation.BlockTransfer;
import io.tierlog.agent.core.operation.HostFill;
import io.tierlog.agent.core.operation.Operations;
import io.tierlog.agent.core.operation.Prefetch;
import io.tierlog.agent.core.operation.StoreShard;
import io.tierlog.agent.core.operation.TransferSession;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.peer.PeerChoice;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.agent.core.request.LiveAttempt;
import io.tierlog.agent.core.request.Requests;
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
import io.tierlog.schemas.event.StoreReadStarted;
import java.util.List;
import java.util.Optional;

/** Begins fetches for waiting requests, or refuses them. For the core's one thread. */
public final class PrefetchCommands {
    private record Refused(OperationReason why, String detail) {}

    /** The attempt that waits for a prefetch. */
    private record Waiting(Requests requests, LiveAttempt attempt) implements Prefetch.Requester {
        @Override
        public void fetched(int index, Tier tier) {
            attempt.fetched(index, tier);
        }

        @Override
        public boolean awaits(TransferSession prefetch) {
            return attempt.awaits(prefetch);
        }

        @Override
        public void leased(String lease) {
            attempt.leased(lease);
        }

        @Override
        public void ended(TransferSession prefetch, boolean whole) {
            requests.fetchEnded(attempt, prefetch, whole);
        }
    }

    private final AgentContext context;
    private final Operations operations;
    private final Requests requests;
    private final HostFill fill;
    private final PeerChoice peers;

    public PrefetchCommands(AgentContext context, Operations operations, HostFill fill, Requests requests, PeerChoice peers) {
        this.context = context;
        this.operations = operations;
        this.requests = requests;
        this.fill = fill;
        this.peers = peers;
    }

    void run(PrefetchBlocks command) {
        requests.answered(command.request(), command.attempt());
        Optional<LiveAttempt> waiting =
                requests.waiting(command.request(), command.attempt()).filter(attempt -> attempt.fetch() == null);
        if (waiting.isEmpty()) {
            refuse(command, new Refused(OperationReason.MOVED_ON, "the attempt does not wait, or waits for another fetch"));
            return;
        }
        LiveAttempt attempt = waiting.get();
        Optional<Refused> refused = check(command, attempt);
        if (refused.isEmpty()) {
            List<BlockTransfer> items = command.blocks().stream().map(BlockTransfer::new).toList();
            Optional<List<PagedBlock>> pages =
                    fill.reserve(command.operation(), command.header().command(), command.namespace(), items);
            if (pages.isPresent()) {
                start(command, attempt, items, pages.get());
                return;
            }
            refused = Optional.of(new Refused(OperationReason.NO_ROOM, "too few host pages for " + items.size() + " blocks"));
        }
        refuse(command, refused.get());
        requests.ready(attempt, reasonFor(refused.get().why()));
    }

    private void start(PrefetchBlocks command, LiveAttempt attempt, List<BlockTransfer> items, List<PagedBlock> pages) {
        for (BlockTransfer item : items) {
            if (item.state() == BlockTransfer.State.PENDING) {
                context.disk().serving(command.namespace(), item.block().key())
                        .filter(copy -> copy.block().equals(item.block()))
                        .ifPresent(copy -> {
                            item.on(copy);
                            context.disk().index().pin(command.operation(), copy);
                        });
            }
        }
        readFromPeer(command, items);
        Prefetch fetch = new Prefetch(context, fill, peers, new Waiting(requests, attempt), command, items);
        context.journal().started(command.operation());
        context.append(command.header().command(),
                e -> new OperationStarted(e, command.operation(), OperationKind.PREFETCH, command.namespace(), pages));
        reportReads(command, items);
        attempt.fetch(fetch);
        operations.add(fetch);
    }

    /** Reports to the shard what is read from the store, before it is read: it stays there for a while. */
    private void reportReads(PrefetchBlocks command, List<BlockTransfer> items) {
        List<Block> read = items.stream()
                .filter(item -> item.state() == BlockTransfer.State.PENDING && item.placement() == null && !item.isFromPeer())
                .map(BlockTransfer::block).toList();
        if (!read.isEmpty()) {
            String shard = "store/" + StoreShard.of(command.namespace(), command.root(), context.limits().storeShards());
            context.append(shard, command.header().command(),
                    e -> new StoreReadStarted(e, context.registration().node(), command.namespace(), read));
        }
    }

    /** Requests a peer read by an event; blocks that this node's disk holds are read there. */
    private void readFromPeer(PrefetchBlocks command, List<BlockTransfer> items) {
        PeerSource peer = command.peer();
        if (peer == null) {
            return;
        }
        for (int i = 0; i < items.size(); i++) {
            BlockTransfer item = items.get(i);
            if (command.sources().get(i) == Tier.HOST && item.state() == BlockTransfer.State.PENDING && item.placement() == null) {
                item.fromPeer();
            }
        }
        List<Block> fromPeer = items.stream().filter(BlockTransfer::isFromPeer).map(item -> item.block()).toList();
        if (!fromPeer.isEmpty()) {
            peers.readBegins(peer.node());
            context.append("node/" + peer.node(), command.header().command(), e -> new PeerReadRequested(
                    e, command.operation(), context.registration().node(), command.namespace(), fromPeer));
        }
    }

    private boolean isSource(PrefetchBlocks command, Tier source) {
        boolean fromPeer = source == Tier.HOST && command.peer() != null && context.ports().peers().isPresent();
        return fromPeer || source == Tier.STORE || source == Tier.DISK;
    }

    private Optional<Refused> check(PrefetchBlocks command, LiveAttempt attempt) {
        if (context.phase() != AgentPhase.ON_LOG || operations.full() || context.ports().events().congested()) {
            return Optional.of(new Refused(OperationReason.QUEUE_FULL, "the agent is at its limit of work"));
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
        Optional<Page> page = context.pages().serving(namespace, below.block().key());
        return page.isPresent() && page.get().number() == below.page() && page.get().generation() == below.generation();
    }

    private void refuse(PrefetchBlocks command, Refused refused) {
        context.refuse(command.header(), command.operation(), refused.why(), refused.detail());
    }

    private static Offer.Reason reasonFor(OperationReason why) {
        if (why == OperationReason.NO_ROOM) {
            return Offer.Reason.NO_ROOM;
        }
        return why == OperationReason.QUEUE_FULL ? Offer.Reason.AGENT_BUSY : Offer.Reason.FETCH_FAILED;
    }
}
