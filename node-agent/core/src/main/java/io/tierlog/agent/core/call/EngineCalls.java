/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.call;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.Attempt;
import io.tierlog.agent.core.api.AgentInput.Cancelled;
import io.tierlog.agent.core.api.AgentInput.DeviceBlock;
import io.tierlog.agent.core.api.AgentInput.DeviceEvicted;
import io.tierlog.agent.core.api.AgentInput.EvictedBlock;
import io.tierlog.agent.core.api.AgentInput.Finished;
import io.tierlog.agent.core.api.AgentInput.Prefilled;
import io.tierlog.agent.core.api.AgentInput.Sealed;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.device.DevicePins.Content;
import io.tierlog.agent.core.engine.EngineCallChecks;
import io.tierlog.agent.core.engine.EngineSessions;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.request.LiveAttempt;
import io.tierlog.agent.core.request.PromptBound;
import io.tierlog.agent.core.request.Requests;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestRejected;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Calls about attempts after Submit: prefilled, sealed, finished, cancelled, and evictions from the device pool. For the core's one thread. */
public final class EngineCalls {
    private final AgentContext context;
    private final EngineSessions engines;
    private final Requests requests;

    public EngineCalls(AgentContext context, EngineSessions engines, Requests requests) {
        this.context = context;
        this.engines = engines;
        this.requests = requests;
    }

    /** The attempt of that session, or a refusal has been sent. */
    Optional<LiveAttempt> known(long call, Attempt id) {
        Optional<Refusal> session = engines.whyNot(id.session());
        if (session.isPresent()) {
            engines.refuse(call, session.get(), EngineSessions.FIRST, false);
            return Optional.empty();
        }
        Optional<LiveAttempt> found =
                requests.find(id.request(), id.attempt()).filter(attempt -> attempt.id().session().equals(id.session()));
        if (found.isEmpty()) {
            engines.refuse(call, Refusal.UNKNOWN_REQUEST, "no attempt " + id.attempt() + " of request " + id.request(), false);
        }
        return found;
    }

    public void prefilled(Prefilled in) {
        Optional<LiveAttempt> found = known(in.call(), in.attempt());
        if (found.isEmpty()) {
            return;
        }
        LiveAttempt attempt = found.get();
        if (attempt.state() != LiveAttempt.State.ANSWERED) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, "the attempt is " + attempt.state(), false);
            return;
        }
        if (!attempt.prefilled()) {
            attempt.setPrefilled();
            requests.releasePins(attempt);
            if (attempt.logged()) {
                context.append("", e -> new RequestPrefilled(
                        e, in.attempt().request(), in.attempt().attempt(), in.deviceBlocks(), in.loadedBlocks(), in.computedBlocks()));
            }
        }
        context.ports().engines().done(in.call());
    }

    // --- sealed blocks

    public void sealed(Sealed in) {
        Optional<LiveAttempt> found = known(in.call(), in.attempt());
        if (found.isEmpty()) {
            return;
        }
        LiveAttempt attempt = found.get();
        Optional<String> wrong =
                EngineCallChecks.sealed(in, context.device().capacity()).or(() -> wrongHere(attempt, in));
        if (wrong.isPresent()) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, wrong.get(), false);
            return;
        }
        attempt.root(in.root());
        int taken = PromptBound.taken(in.blocks().getFirst().index(), in.blocks().size(), context.limits().bounds().keysPerRequest());
        // Each is on a page of the device, so an engine that keeps to its pages does not come near this.
        if (attempt.notTaken().size() + in.blocks().size() - taken > 2 * context.device().capacity()) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, "the attempt has more blocks beyond prompt_blocks than the device has pages", false);
            return;
        }
        context.counters().add(AgentCounter.SEALED_BLOCKS_NOT_TAKEN, in.blocks().size() - taken);
        List<PagedBlock> blocks = new ArrayList<>(taken);
        Bytes parent = in.parent();
        for (DeviceBlock block : in.blocks()) {
            PagedBlock paged = new PagedBlock(new Block(block.index(), block.key(), parent), block.page(), block.generation(), 0);
            parent = block.key();
            if (blocks.size() < taken) {
                blocks.add(paged);
                attempt.sealed().put(block.index(), paged);
            } else {
                attempt.notTaken().put(block.index(), paged);
            }
            context.device().remember(block.page(), content(in.namespace(), block));
        }
        if (attempt.logged()) {
            for (List<PagedBlock> part : PromptBound.parts(blocks, context.limits().bounds().blocksPerCall())) {
                context.append("", e -> new BlocksSealed(
                        e, in.attempt().request(), in.attempt().attempt(), in.namespace(), in.root(), part));
            }
        }
        context.ports().engines().done(in.call());
    }

    private Optional<String> wrongHere(LiveAttempt attempt, Sealed in) {
        if (attempt.state() != LiveAttempt.State.ANSWERED) {
            return Optional.of("the attempt is " + attempt.state());
        }
        if (!attempt.namespace().equals(in.namespace())) {
            return Optional.of("the attempt is of namespace " + attempt.namespace());
        }
        for (DeviceBlock block : in.blocks()) {
            if (block.index() < attempt.keys().size() && !attempt.keys().get(block.index()).equals(block.key())) {
                return Optional.of("block " + block.index() + " has another key than in the prompt");
            }
            Optional<String> page = context.device().whyNot(block.page(), content(in.namespace(), block));
            if (page.isPresent()) {
                return page;
            }
        }
        return Optional.empty();
    }

    private static Content content(String namespace, DeviceBlock block) {
        return new Content(namespace, block.key(), block.index(), block.generation());
    }

    // --- ends

    public void finished(Finished in) {
        Optional<LiveAttempt> found = known(in.call(), in.attempt());
        if (found.isEmpty()) {
            return;
        }
        LiveAttempt attempt = found.get();
        boolean rejected = isRejection(in.reason());
        if (!rejected && in.reason() != RequestReason.COMPLETED && in.reason() != RequestReason.PREEMPTED) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, "a request does not finish as " + in.reason(), false);
            return;
        }
        context.ports().engines().done(in.call());
        if (!attempt.live()) {
            return;
        }
        if (attempt.state() == LiveAttempt.State.PROBING) {
            requests.expire(attempt);
        }
        reportFinished(attempt, in, rejected);
        requests.finish(attempt, !rejected);
    }

    private void reportFinished(LiveAttempt attempt, Finished in, boolean rejected) {
        if (!attempt.logged()) {
            return;
        }
        String request = in.attempt().request();
        int number = in.attempt().attempt();
        if (rejected) {
            context.append("", e -> new RequestRejected(e, request, number, in.reason()));
        } else {
            context.append("", e -> new RequestFinished(e, request, number, in.reason(), in.generatedTokens()));
        }
    }

    private static boolean isRejection(RequestReason reason) {
        return reason == RequestReason.CONTEXT_LENGTH || reason == RequestReason.KV_BUDGET || reason == RequestReason.UNKNOWN_ADAPTER;
    }

    public void cancelled(Cancelled in) {
        Optional<LiveAttempt> found = known(in.call(), in.attempt());
        if (found.isEmpty()) {
            return;
        }
        LiveAttempt attempt = found.get();
        context.ports().engines().done(in.call());
        if (attempt.live()) {
            if (attempt.state() == LiveAttempt.State.PROBING) {
                requests.expire(attempt);
            }
            requests.abandon(attempt, RequestReason.CLIENT_CANCELLED);
        } else {
            requests.releaseFinished(attempt); // the engine needs its pages, saved or not
        }
    }

    // --- the device pool

    public void evicted(DeviceEvicted in) {
        Optional<Refusal> session = engines.whyNot(in.session());
        if (session.isPresent()) {
            engines.refuse(in.call(), session.get(), EngineSessions.FIRST, false);
            return;
        }
        Optional<String> wrong =
                EngineCallChecks.evicted(in.namespace(), in.blocks(), context.limits().bounds().blocksPerCall(), context.device().capacity())
                        .or(() -> in.blocks().stream()
                                .filter(block -> context.device().pinned(block.page()) && isThere(in.namespace(), block))
                                .findFirst()
                                .map(block -> "page " + block.page() + " is pinned: wait for its Released notice"));
        if (wrong.isPresent()) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, wrong.get(), false);
            return;
        }
        List<PagedBlock> gone = new ArrayList<>();
        for (EvictedBlock block : in.blocks()) {
            gone.add(new PagedBlock(new Block(block.index(), block.key(), block.parent()), block.page(), block.generation(), 0));
            if (isThere(in.namespace(), block)) {
                context.device().forget(block.page());
            }
        }
        if (!gone.isEmpty()) {
            context.append("", e -> new BlocksEvicted(e, Tier.DEVICE, in.namespace(), RemovalReason.ENGINE_EVICTED, gone));
        }
        context.ports().engines().done(in.call());
    }

    private boolean isThere(String namespace, EvictedBlock block) {
        Content evicted = new Content(namespace, block.key(), block.index(), block.generation());
        return context.device().content(block.page()).filter(evicted::equals).isPresent();
    }

    /** Why an operation cannot read the block from the device; empty when it can. */
    public Optional<OperationReason> whyNotOnDevice(LiveAttempt attempt, String namespace, PagedBlock block) {
        if (!attempt.keeps(block)) {
            return Optional.of(OperationReason.NOT_SERVING);
        }
        Optional<Content> content = context.device().content(block.page());
        Content wanted = new Content(namespace, block.block().key(), block.block().index(), block.generation());
        if (content.isEmpty() || !content.get().equals(wanted)) {
            return Optional.of(OperationReason.STALE_GENERATION);
        }
        boolean kept = attempt.live() || context.device().pinnedBy(attempt.finishPin(), block.page());
        return kept ? Optional.empty() : Optional.of(OperationReason.NOT_SERVING);
    }
}
