/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.Attempt;
import io.tierlog.agent.core.AgentInput.Cancelled;
import io.tierlog.agent.core.AgentInput.DeviceBlock;
import io.tierlog.agent.core.AgentInput.DeviceEvicted;
import io.tierlog.agent.core.AgentInput.EvictedBlock;
import io.tierlog.agent.core.AgentInput.Finished;
import io.tierlog.agent.core.AgentInput.Prefilled;
import io.tierlog.agent.core.AgentInput.Sealed;
import io.tierlog.agent.core.device.DevicePins.Content;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
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

/** What engines say about attempts after Submit: prefilled, sealed, finished, given up, and what left the device pool. For the core's one thread. */
final class DoorCalls {
    private final Desk desk;
    private final Engines engines;
    private final Requests requests;

    DoorCalls(Desk desk, Engines engines, Requests requests) {
        this.desk = desk;
        this.engines = engines;
        this.requests = requests;
    }

    /** The attempt of that session, or a refusal has been sent. */
    Optional<LiveAttempt> known(long call, Attempt id) {
        Optional<Refusal> session = engines.whyNot(id.session());
        if (session.isPresent()) {
            engines.refuse(call, session.get(), Engines.FIRST, false);
            return Optional.empty();
        }
        Optional<LiveAttempt> found =
                requests.find(id.request(), id.attempt()).filter(attempt -> attempt.id().session().equals(id.session()));
        if (found.isEmpty()) {
            engines.refuse(call, Refusal.UNKNOWN_REQUEST, "no attempt " + id.attempt() + " of request " + id.request(), false);
        }
        return found;
    }

    void prefilled(Prefilled in) {
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
                desk.tell("", e -> new RequestPrefilled(
                        e, in.attempt().request(), in.attempt().attempt(), in.deviceBlocks(), in.loadedBlocks(), in.computedBlocks()));
            }
        }
        desk.ports.engines().done(in.call());
    }

    // --- sealed blocks

    void sealed(Sealed in) {
        Optional<LiveAttempt> found = known(in.call(), in.attempt());
        if (found.isEmpty()) {
            return;
        }
        LiveAttempt attempt = found.get();
        Optional<String> wrong =
                DoorCheck.sealed(in, desk.limits.bounds().keysPerRequest(), desk.device.capacity()).or(() -> wrongHere(attempt, in));
        if (wrong.isPresent()) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, wrong.get(), false);
            return;
        }
        attempt.root(in.root());
        List<PagedBlock> blocks = new ArrayList<>(in.blocks().size());
        Bytes parent = in.parent();
        for (DeviceBlock block : in.blocks()) {
            PagedBlock paged = new PagedBlock(new Block(block.index(), block.key(), parent), block.page(), block.generation(), 0);
            parent = block.key();
            blocks.add(paged);
            attempt.sealed().put(block.index(), paged);
            desk.device.remember(block.page(), new Content(in.namespace(), block.key(), block.index(), block.generation()));
        }
        if (attempt.logged()) {
            desk.tell("", e -> new BlocksSealed(
                    e, in.attempt().request(), in.attempt().attempt(), in.namespace(), in.root(), blocks));
        }
        desk.ports.engines().done(in.call());
    }

    private Optional<String> wrongHere(LiveAttempt attempt, Sealed in) {
        if (attempt.state() != LiveAttempt.State.ANSWERED) {
            return Optional.of("the attempt is " + attempt.state());
        }
        if (!attempt.namespace().equals(in.namespace())) {
            return Optional.of("the attempt is of namespace " + attempt.namespace());
        }
        if (attempt.sealed().size() + in.blocks().size() > 2 * desk.limits.bounds().keysPerRequest()) {
            return Optional.of("more blocks than one request may have");
        }
        for (DeviceBlock block : in.blocks()) {
            if (block.index() < attempt.keys().size() && !attempt.keys().get(block.index()).equals(block.key())) {
                return Optional.of("block " + block.index() + " has another key than in the prompt");
            }
            Optional<String> page = wrongPage(in.namespace(), block);
            if (page.isPresent()) {
                return page;
            }
        }
        return Optional.empty();
    }

    private Optional<String> wrongPage(String namespace, DeviceBlock block) {
        Optional<Content> before = desk.device.content(block.page());
        Content now = new Content(namespace, block.key(), block.index(), block.generation());
        if (before.filter(now::equals).isPresent()) {
            return Optional.empty();
        }
        if (desk.device.pinned(block.page())) { // a copy may be writing to it, whatever was there before
            return Optional.of("page " + block.page() + " was given to other content while it is pinned: wait for its Released notice");
        }
        return before.filter(known -> known.generation() >= block.generation())
                .map(known -> "page " + block.page() + " had generation " + known.generation() + " already, for other content");
    }

    // --- ends

    void finished(Finished in) {
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
        desk.ports.engines().done(in.call());
        if (!attempt.live()) {
            return;
        }
        if (attempt.state() == LiveAttempt.State.PROBING) {
            requests.expire(attempt);
        }
        tellFinished(attempt, in, rejected);
        requests.finish(attempt, !rejected);
    }

    private void tellFinished(LiveAttempt attempt, Finished in, boolean rejected) {
        if (!attempt.logged()) {
            return;
        }
        String request = in.attempt().request();
        int number = in.attempt().attempt();
        if (rejected) {
            desk.tell("", e -> new RequestRejected(e, request, number, in.reason()));
        } else {
            desk.tell("", e -> new RequestFinished(e, request, number, in.reason(), in.generatedTokens()));
        }
    }

    private static boolean isRejection(RequestReason reason) {
        return reason == RequestReason.CONTEXT_LENGTH || reason == RequestReason.KV_BUDGET || reason == RequestReason.UNKNOWN_ADAPTER;
    }

    void cancelled(Cancelled in) {
        Optional<LiveAttempt> found = known(in.call(), in.attempt());
        if (found.isEmpty()) {
            return;
        }
        LiveAttempt attempt = found.get();
        desk.ports.engines().done(in.call());
        if (attempt.live()) {
            if (attempt.state() == LiveAttempt.State.PROBING) {
                requests.expire(attempt);
            }
            requests.giveUp(attempt, RequestReason.CLIENT_CANCELLED);
        }
    }

    /** All attempts of a session that is gone. Its device pool is closed already. */
    void sessionGone(String session) {
        for (LiveAttempt attempt : requests.ofSession(session)) {
            if (attempt.state() == LiveAttempt.State.PROBING) {
                engines.refuse(attempt.submitted().call(), Refusal.UNKNOWN_SESSION, "the session has ended", false);
            }
            if (attempt.live()) {
                requests.giveUp(attempt, RequestReason.ENGINE_GONE);
            } else {
                requests.settled(attempt);
            }
        }
    }

    // --- the device pool

    void evicted(DeviceEvicted in) {
        Optional<Refusal> session = engines.whyNot(in.session());
        if (session.isPresent()) {
            engines.refuse(in.call(), session.get(), Engines.FIRST, false);
            return;
        }
        Optional<String> wrong =
                DoorCheck.evicted(in.namespace(), in.blocks(), desk.limits.bounds().keysPerRequest(), desk.device.capacity())
                        .or(() -> in.blocks().stream()
                                .filter(block -> desk.device.pinned(block.page()) && isThere(in.namespace(), block))
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
                desk.device.forget(block.page());
            }
        }
        if (!gone.isEmpty()) {
            desk.tell("", e -> new BlocksEvicted(e, Tier.DEVICE, in.namespace(), RemovalReason.ENGINE_EVICTED, gone));
        }
        desk.ports.engines().done(in.call());
    }

    private boolean isThere(String namespace, EvictedBlock block) {
        Content evicted = new Content(namespace, block.key(), block.index(), block.generation());
        return desk.device.content(block.page()).filter(evicted::equals).isPresent();
    }

    /** Why an operation's block cannot be read from the device any more; empty when it can. */
    Optional<OperationReason> whyNotOnDevice(LiveAttempt attempt, String namespace, PagedBlock block) {
        if (!attempt.hasSealed(block)) {
            return Optional.of(OperationReason.NOT_SERVING);
        }
        Optional<Content> content = desk.device.content(block.page());
        Content wanted = new Content(namespace, block.block().key(), block.block().index(), block.generation());
        if (content.isEmpty() || !content.get().equals(wanted)) {
            return Optional.of(OperationReason.STALE_GENERATION);
        }
        boolean kept = attempt.live() || desk.device.pinnedBy(attempt.finishPin(), block.page());
        return kept ? Optional.empty() : Optional.of(OperationReason.NOT_SERVING);
    }
}
