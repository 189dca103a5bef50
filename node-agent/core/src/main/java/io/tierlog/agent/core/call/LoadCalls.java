/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.call;

import io.tierlog.agent.core.api.AgentInput.DeviceBlock;
import io.tierlog.agent.core.api.AgentInput.LoadCalled;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.engine.EngineCallChecks;
import io.tierlog.agent.core.engine.EngineSessions;
import io.tierlog.agent.core.operation.BlockTransfer;
import io.tierlog.agent.core.operation.LoadBack;
import io.tierlog.agent.core.operation.LoadBack.Loader;
import io.tierlog.agent.core.operation.Operations;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.request.Leases;
import io.tierlog.agent.core.request.LiveAttempt;
import io.tierlog.agent.core.request.Requests;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Begins loads, or refuses them. A load consumes the lease it names; one refused for good ends it too: the engine computes, and nothing stays pinned
 * for a load that never comes. For the core's one thread.
 */
public final class LoadCalls {
    private final AgentContext context;
    private final Operations operations;
    private final EngineSessions engines;
    private final Requests requests;
    private final Leases leases;

    public LoadCalls(AgentContext context, Operations operations, EngineSessions engines, Requests requests, Leases leases) {
        this.context = context;
        this.operations = operations;
        this.engines = engines;
        this.requests = requests;
        this.leases = leases;
    }

    public void run(LoadCalled in) {
        String session = in.attempt().session();
        Optional<Refusal> noSession = engines.whyNot(session);
        if (noSession.isPresent()) {
            engines.refuse(in.call(), noSession.get(), EngineSessions.FIRST, false);
            return;
        }
        Optional<Leases.Lease> lease = leases.find(session, in.lease()).filter(found -> isFor(found, in));
        boolean known = requests.find(in.attempt().request(), in.attempt().attempt()).filter(one -> one.id().equals(in.attempt())).isPresent();
        if (!known && !in.attempt().request().isEmpty()) {
            engines.refuse(in.call(), Refusal.UNKNOWN_REQUEST,
                    "no attempt " + in.attempt().attempt() + " of request " + in.attempt().request(), false);
            leases.find(session, in.lease()).ifPresent(named -> end(in.lease(), named));
        } else if (lease.isEmpty()) {
            engines.unknownLease(in.call(), in.lease());
        } else if (!context.takesWork()) {
            engines.refuse(in.call(), Refusal.CLOSING, "The agent stops", false);
            end(in.lease(), lease.get());
        } else if (operations.full()) {
            engines.refuse(in.call(), Refusal.BUSY, "the agent is at its limit of work", true);
        } else {
            check(in, lease.get());
        }
    }

    /** A lease of an offer serves its own attempt alone, one that was reserved outside of requests no attempt. */
    private static boolean isFor(Leases.Lease lease, LoadCalled in) {
        return switch (lease) {
            case Leases.Offered(LiveAttempt attempt) -> attempt.id().equals(in.attempt());
            case Leases.Reserved reserved -> in.attempt().request().isEmpty();
        };
    }

    private void check(LoadCalled in, Leases.Lease lease) {
        Optional<String> wrong = EngineCallChecks.run(in.blocks(), context.limits().bounds().keysPerRequest(), context.device().capacity())
                .or(() -> busyPage(context, in.blocks()))
                .or(() -> wrongName(in, lease));
        Optional<String> notOffered = wrong.isPresent() ? Optional.empty() : notOffered(in, lease);
        if (wrong.isPresent()) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, wrong.get(), false);
            end(in.lease(), lease);
        } else if (notOffered.isPresent()) {
            engines.refuse(in.call(), Refusal.NOT_OFFERED, notOffered.get(), false);
            end(in.lease(), lease);
        } else {
            begin(in, lease);
        }
    }

    private void begin(LoadCalled in, Leases.Lease lease) {
        List<BlockTransfer> items = in.blocks().stream()
                .map(block -> new BlockTransfer(named(in, lease, block), block.page(), block.generation()))
                .toList();
        boolean here = true;
        for (BlockTransfer item : items) {
            Optional<Page> page = context.pages().serving(in.namespace(), item.block().key());
            here = here && page.isPresent();
            if (here) {
                item.on(page.orElseThrow());
            } else {
                item.failed(OperationReason.NOT_SERVING); // its lease has ended since: what is before it can still be loaded
            }
        }
        LoadBack load = new LoadBack(context, loader(in, lease), in.namespace(), in.call(), items);
        load.pinBothEnds();
        switch (lease) {
            case Leases.Offered(LiveAttempt attempt) -> {
                requests.takeOffer(attempt);
                attempt.load(load);
            }
            case Leases.Reserved reserved -> {
                leases.end(in.lease());
                context.pages().touch(items.stream().map(BlockTransfer::page).filter(Objects::nonNull).toList());
            }
        }
        operations.add(load);
    }

    private Loader loader(LoadCalled in, Leases.Lease lease) {
        return switch (lease) {
            case Leases.Offered(LiveAttempt attempt) -> new Loader(attempt.owner(), attempt.logged(), () -> requests.loadEnded(attempt));
            case Leases.Reserved reserved ->
                new Loader(new PageOwner(reserved.session(), "", 0), context.onTheLog(), () -> context.pages().unpinAll(in.lease()));
        };
    }

    private Block named(LoadCalled in, Leases.Lease lease, DeviceBlock block) {
        return switch (lease) {
            case Leases.Offered(LiveAttempt attempt) ->
                new Block(block.index(), block.key(), block.index() == 0 ? Bytes.EMPTY : attempt.keys().get(block.index() - 1));
            // All of it serves, or the lease would not have been given.
            case Leases.Reserved reserved ->
                context.pages().serving(in.namespace(), block.key()).map(Page::block).orElse(new Block(block.index(), block.key(), Bytes.EMPTY));
        };
    }

    /** Why a destination may not be written to; empty when all may. */
    static Optional<String> busyPage(AgentContext context, List<DeviceBlock> blocks) {
        return blocks.stream()
                .filter(block -> context.device().pinned(block.page()))
                .findFirst()
                .map(block -> "page " + block.page() + " is pinned: wait for its Released notice");
    }

    private Optional<String> wrongName(LoadCalled in, Leases.Lease lease) {
        return switch (lease) {
            case Leases.Offered(LiveAttempt attempt) -> attempt.namespace().equals(in.namespace())
                    ? in.blocks().stream()
                            .filter(block -> block.index() >= attempt.keys().size() || !attempt.keys().get(block.index()).equals(block.key()))
                            .findFirst()
                            .map(block -> "block " + block.index() + " has another key than in the prompt")
                    : Optional.of("the attempt is of namespace " + attempt.namespace());
            case Leases.Reserved reserved -> reserved.namespace().equals(in.namespace())
                    ? Optional.empty()
                    : Optional.of("the lease is of namespace " + reserved.namespace());
        };
    }

    private Optional<String> notOffered(LoadCalled in, Leases.Lease lease) {
        switch (lease) {
            case Leases.Offered(LiveAttempt attempt) -> {
                int from = attempt.offer().firstIndex();
                int to = from + attempt.offer().sources().size();
                boolean within = in.blocks().getFirst().index() >= from && in.blocks().getLast().index() < to;
                return within ? Optional.empty() : Optional.of("offered are the blocks " + from + " to " + (to - 1));
            }
            case Leases.Reserved reserved -> {
                return in.blocks().stream()
                        .filter(block -> context.pages().serving(in.namespace(), block.key())
                                .filter(page -> page.pinnedBy(in.lease()) && page.block().index() == block.index())
                                .isEmpty())
                        .findFirst()
                        .map(block -> "block " + block.index() + " with key " + block.key() + " is not one of the lease");
            }
        }
    }

    private void end(String name, Leases.Lease lease) {
        switch (lease) {
            case Leases.Offered(LiveAttempt attempt) -> requests.releasePins(attempt);
            case Leases.Reserved reserved -> leases.release(name);
        }
    }
}
