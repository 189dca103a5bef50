/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.request;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.Attempt;
import io.tierlog.agent.core.api.AgentInput.CallGone;
import io.tierlog.agent.core.api.AgentInput.PeersFound;
import io.tierlog.agent.core.api.AgentInput.StoreProbed;
import io.tierlog.agent.core.api.AgentInput.Submitted;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.context.Component;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.agent.core.engine.EngineCallChecks;
import io.tierlog.agent.core.engine.EngineSessions;
import io.tierlog.agent.core.operation.Operations;
import io.tierlog.agent.core.operation.TransferSession;
import io.tierlog.agent.core.operation.WriteBack;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.peer.PeerChoice;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.agent.core.time.Deadlines;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PeerCopies;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.RequestCancelled;
import io.tierlog.schemas.event.WaitExpired;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SequencedMap;

/**
 * The attempts of requests: what serves for them when they come, how long they wait, what they are offered, and the end of their pins.
 *
 * <p>An offer is what serves and is pinned at that moment. For the core's one thread.
 */
public final class Requests implements Component {
    /** Names an attempt within the node, as commands do. */
    private record Key(String request, int attempt) {}

    private final AgentContext context;
    private final Operations operations;
    private final EngineSessions engines;
    private final Leases leases;
    private final SequencedMap<Key, LiveAttempt> attempts = new LinkedHashMap<>();
    private final Map<String, LiveAttempt> newest = new LinkedHashMap<>();
    private final Map<Long, LiveAttempt> probes = new LinkedHashMap<>();
    private final FinishedAttempts finished = new FinishedAttempts();
    private final Deadlines<Key> waits = new Deadlines<>();
    private final PeerChoice peers;
    private final Map<Long, LiveAttempt> finds = new LinkedHashMap<>();
    private final Deadlines<Long> findEnds = new Deadlines<>();
    private final ControllerLag lag;
    /** Keys of all attempts, count. */
    private long keys;

    public Requests(AgentContext context, Operations operations, EngineSessions engines, Leases leases, PeerChoice peers) {
        this.peers = peers;
        this.context = context;
        this.operations = operations;
        this.engines = engines;
        this.leases = leases;
        lag = new ControllerLag(context.limits());
    }

    // --- looking

    public int size() {
        return attempts.size();
    }

    /** Attempts that wait for the store's answer or for a fetch. */
    public int waiting() {
        return waits.size();
    }

    @Override
    public long nextDeadlineMs() {
        return Math.min(context.device().nextPinEndMs(), Math.min(waits.nextMs(), findEnds.nextMs()));
    }

    public Optional<LiveAttempt> find(String request, int attempt) {
        return Optional.ofNullable(attempts.get(new Key(request, attempt)));
    }

    /** The attempt, if the engine waits for a notice about it. */
    public Optional<LiveAttempt> waiting(String request, int attempt) {
        return find(request, attempt).filter(LiveAttempt::waiting);
    }

    private List<LiveAttempt> ofSession(String session) {
        return attempts.values().stream().filter(attempt -> attempt.id().session().equals(session)).toList();
    }

    List<LiveAttempt> all() {
        return List.copyOf(attempts.values());
    }

    // --- Submit

    public void submit(Submitted called) {
        int most = context.limits().bounds().keysPerRequest();
        Submitted in = PromptBound.within(called, most);
        Attempt id = in.attempt();
        Optional<Refusal> session = engines.whyNot(id.session());
        if (session.isPresent()) {
            engines.refuse(in.call(), session.get(), EngineSessions.FIRST, false);
            return;
        }
        Optional<String> wrong = EngineCallChecks.submit(called, most, context.device().capacity())
                .or(() -> KeptPages.wrong(context.device(), in));
        LiveAttempt before = newest.get(id.request());
        if (wrong.isPresent()) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, wrong.get(), false);
        } else if (!context.takesWork()) {
            engines.refuse(in.call(), Refusal.CLOSING, "The agent stops", false);
        } else if (before != null && (before.id().attempt() >= id.attempt() || !before.id().session().equals(id.session()))) {
            repeat(in, before);
        } else if (attempts.size() >= context.limits().bounds().requests() || keys + in.keys().size() > context.limits().bounds().liveKeys()
                || context.ports().events().congested()) {
            engines.refuse(in.call(), Refusal.BUSY, "the agent has as many requests or keys as it may have, or its log is congested", true);
        } else {
            if (before != null && before.live()) {
                abandon(before, RequestReason.CLIENT_CANCELLED);
            }
            admit(in);
        }
    }

    private void repeat(Submitted in, LiveAttempt before) {
        boolean same = before.id().equals(in.attempt()) && before.submitted().keys().equals(in.keys());
        if (same && before.waiting()) {
            context.ports().engines().waiting(in.call());
        } else if (same && before.state() == LiveAttempt.State.ANSWERED) {
            context.ports().engines().offer(in.call(), before.offer());
        } else {
            String detail = "attempt " + before.id().attempt() + " of request " + in.attempt().request() + " is registered already";
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, detail, false);
        }
    }

    private void admit(Submitted in) {
        context.counters().increment(AgentCounter.SUBMITTED);
        PromptBound.count(context.counters(), in);
        LiveAttempt attempt = new LiveAttempt(in, context.limits().bounds().keysPerRecord(), context.nowMs());
        Key key = new Key(in.attempt().request(), in.attempt().attempt());
        attempts.put(key, attempt);
        keys += attempt.keys().size();
        newest.put(in.attempt().request(), attempt);
        KeptPages.submitted(context.device(), attempt);
        if (!in.reuseEligible()) {
            answer(attempt, 0, Offer.Reason.NOT_REUSE_ELIGIBLE);
            return;
        }
        pinWhatIsHere(attempt);
        boolean nothingBelow = attempt.storeFrom() >= attempt.fetchable();
        if (nothingBelow && attempt.diskIndexes().isEmpty()) {
            answer(attempt, 0, Offer.Reason.ALL_ON_HOST);
        } else if (!context.onTheLog() || waits.size() >= context.limits().bounds().waiting()) {
            answer(attempt, 0, Offer.Reason.AGENT_BUSY);
        } else if (waitsInVain(attempt, attempt.fetchable() - attempt.storeFrom())) {
            answer(attempt, 0, Offer.Reason.CONTROLLER_BEHIND);
        } else {
            waitFor(attempt, attempt.fetchable() - attempt.storeFrom());
            if (nothingBelow) {
                startWaiting(attempt, 0);
            } else {
                probe(attempt);
            }
        }
    }

    /** Sets the end of the wait, counted from Submit, for a fetch that could bring {@code stored} blocks from the store or another node. */
    private void waitFor(LiveAttempt attempt, int stored) {
        waits.set(key(attempt), attempt.submittedMs() + WaitBound.ms(context.limits().times(), attempt, stored));
    }

    /** Whether the controller answers submissions later than this one would wait; the request counts as one that went on for that reason. */
    private boolean waitsInVain(LiveAttempt attempt, int stored) {
        long lagMs = lag.ms(context.nowMs());
        boolean vain = lagMs > 0 && lagMs >= WaitBound.ms(context.limits().times(), attempt, stored);
        context.counters().add(AgentCounter.CONTROLLER_BEHIND, vain ? 1 : 0);
        return vain;
    }

    private void probe(LiveAttempt attempt) {
        long unit = context.nextUnit();
        attempt.probe(unit);
        probes.put(unit, attempt);
        List<Bytes> asked = attempt.keys().subList(attempt.storeFrom(), attempt.fetchable());
        context.ports().store().probe(unit, attempt.namespace(), asked);
        if (context.ports().peers().isPresent() && asked.size() > context.thresholdBlocks()) {
            long find = context.nextUnit();
            attempt.find(find);
            finds.put(find, attempt);
            findEnds.set(find, context.nowMs() + context.limits().peers().findMs());
            context.ports().peers().get().finder().find(find, attempt.namespace(), attempt.storeFrom(), asked);
        }
    }

    /** The directory has answered which other nodes have the blocks. */
    public void found(PeersFound in) {
        LiveAttempt attempt = finds.remove(in.unit());
        if (attempt == null) {
            context.counters().increment(AgentCounter.LATE_COMPLETIONS);
            return;
        }
        findEnds.clear(in.unit());
        attempt.find(0);
        peers.choose(attempt.id().request(), in, attempt.storeFrom(), attempt.fetchable() - attempt.storeFrom()).ifPresent(attempt::peer);
        proceed(attempt);
    }

    /** The directory has not answered in time: the attempt continues without another node. */
    private void expireFinds() {
        for (Optional<Long> due = findEnds.pollDue(context.nowMs()); due.isPresent(); due = findEnds.pollDue(context.nowMs())) {
            LiveAttempt attempt = finds.remove(due.get());
            if (attempt != null) {
                context.counters().increment(AgentCounter.FINDS_UNANSWERED);
                attempt.find(0);
                proceed(attempt);
            }
        }
    }

    private void startWaiting(LiveAttempt attempt, int present) {
        attempt.become(LiveAttempt.State.WAITING);
        attempt.storeBlocks(present);
        context.ports().engines().waiting(attempt.submitted().call());
        reportSubmitted(attempt, present, false);
        lag.submitted(attempt.id(), context.nowMs());
    }

    private void pinWhatIsHere(LiveAttempt attempt) {
        List<Page> path = new ArrayList<>();
        for (int index = 0; index < attempt.reusable(); index++) {
            Optional<Page> page = onHost(attempt, index);
            page.ifPresent(path::add);
            if (index < attempt.submitted().deviceBlocks()) {
                continue;
            }
            Optional<DiskPlacement> copy = page.isPresent() || index >= attempt.fetchable() ? Optional.empty() : onDisk(attempt, index);
            if (page.isPresent()) {
                attempt.hostIndexes().add(index);
                context.pages().pin(attempt.hostPin(), page.get());
            } else if (copy.isPresent()) {
                attempt.diskIndexes().add(index);
                context.disk().index().pin(attempt.hostPin(), copy.get()); // until the attempt has its offer
            }
            if ((page.isPresent() || copy.isPresent()) && index == attempt.storeFrom()) {
                attempt.storeFrom(index + 1);
            }
        }
        context.pages().touch(path);
    }

    private Optional<DiskPlacement> onDisk(LiveAttempt attempt, int index) {
        return context.disk().serving(attempt.namespace(), attempt.keys().get(index)).filter(copy -> copy.block().index() == index);
    }

    private Optional<Page> onHost(LiveAttempt attempt, int index) {
        return context.pages().serving(attempt.namespace(), attempt.keys().get(index)).filter(page -> page.block().index() == index);
    }

    /** The store has answered the probe. */
    public void probed(StoreProbed in) {
        LiveAttempt attempt = probes.remove(in.unit());
        if (attempt == null || attempt.state() != LiveAttempt.State.PROBING) {
            context.counters().increment(AgentCounter.LATE_COMPLETIONS);
            return;
        }
        context.counters().add(AgentCounter.PROBES_UNANSWERED, in.reachable() ? 0 : 1);
        attempt.storeAnswered(Math.clamp(in.present(), 0, attempt.fetchable() - attempt.storeFrom()));
        proceed(attempt);
    }

    /** Continues once both the store and the directory have answered, or need not. */
    private void proceed(LiveAttempt attempt) {
        if (attempt.state() != LiveAttempt.State.PROBING || attempt.storeAnswer().isEmpty() || attempt.find() != 0) {
            return;
        }
        int present = attempt.storeAnswer().getAsInt();
        if (present == 0 && !attempt.diskContinues() && attempt.peer() == null) {
            answer(attempt, 0, Offer.Reason.NOTHING_BELOW);
        } else {
            PeerCopies peer = attempt.peer();
            int stored = peer == null ? present : Math.max(present, peer.from() + peer.blocks() - attempt.storeFrom());
            if (waitsInVain(attempt, stored)) {
                answer(attempt, present, Offer.Reason.CONTROLLER_BEHIND);
                return;
            }
            if (attempt.submitted().prefillNsPerToken() > 0) { // without it the wait does not depend on what there is
                waitFor(attempt, stored);
            }
            startWaiting(attempt, present);
        }
    }

    // --- answers

    /** Answers the Submit call; nothing is ever fetched for this attempt. */
    private void answer(LiveAttempt attempt, int storeBlocks, Offer.Reason reason) {
        context.counters().increment(AgentCounter.ANSWERED_AT_ONCE);
        attempt.become(LiveAttempt.State.ANSWERED);
        waits.clear(key(attempt));
        context.ports().engines().offer(attempt.submitted().call(), offer(attempt, reason));
        reportSubmitted(attempt, storeBlocks, true);
    }

    /** A waiting attempt continues with what is pinned for it now. */
    public void ready(LiveAttempt attempt, Offer.Reason reason) {
        attempt.become(LiveAttempt.State.ANSWERED);
        waits.clear(key(attempt));
        Attempt id = attempt.id();
        context.ports().engines().ready(id.session(), id.request(), id.attempt(), offer(attempt, reason));
    }

    /** The contiguous run that serves at this moment, all of it pinned: by its lease, or from here on for the attempt itself. */
    private Offer offer(LiveAttempt attempt, Offer.Reason reason) {
        List<Tier> sources = new ArrayList<>();
        int first = attempt.submitted().deviceBlocks();
        String lease = attempt.lease();
        for (int index = first; index < attempt.reusable(); index++) {
            Optional<Page> page = onHost(attempt, index);
            if (page.isEmpty()) {
                break;
            }
            if (lease == null || !page.get().pinnedBy(lease)) {
                context.pages().pin(attempt.hostPin(), page.get());
            }
            sources.add(attempt.sourceOf(index));
        }
        context.disk().index().unpinAll(attempt.hostPin());
        context.counters().add(AgentCounter.OFFERED_BLOCKS, sources.size());
        Offer offer = sources.isEmpty() ? Offer.none(first, reason) : new Offer(first, sources, reason, leases.offered(attempt));
        attempt.offer(offer);
        return offer;
    }

    private void reportSubmitted(LiveAttempt attempt, int storeBlocks, boolean answered) {
        if (!context.onTheLog()) {
            return;
        }
        attempt.setLogged(true);
        Submitted in = attempt.submitted();
        context.append("", e -> PromptBound.recorded(e, attempt, storeBlocks, answered, engines.instance(in.attempt().session())));
        for (List<PagedBlock> part : PromptBound.parts(attempt.unreported(), context.limits().bounds().blocksPerCall())) {
            context.append("", e -> new BlocksSealed(
                    e, in.attempt().request(), in.attempt().attempt(), in.namespace(), in.keys().getFirst(), part));
        }
    }

    /** A command that answers the submission of this attempt has come, whether the attempt still waits or not. */
    public void answered(String request, int attempt) {
        lag.answered(request, attempt);
    }

    /** The controller fetches nothing for it. */
    public void resume(ResumeRequest command) {
        answered(command.request(), command.attempt());
        Optional<LiveAttempt> attempt = waiting(command.request(), command.attempt());
        if (attempt.isPresent()) {
            ready(attempt.get(), OfferReasons.of(command.reason()));
        } else {
            context.refuse(command.header(), null, OperationReason.MOVED_ON, "the attempt does not wait");
        }
    }

    /** A fetch for it has ended. */
    public void fetchEnded(LiveAttempt attempt, TransferSession fetch, boolean whole) {
        if (attempt.awaits(fetch)) {
            ready(attempt, whole ? Offer.Reason.FETCHED : Offer.Reason.FETCH_FAILED);
        }
        if (attempt.fetch() == fetch) {
            attempt.fetch(null);
        }
    }

    /** A load takes what is offered: the offer is over, its pins end with the load. */
    public void takeOffer(LiveAttempt attempt) {
        leases.end(attempt.offer().lease());
        attempt.offer(LiveAttempt.NOTHING);
    }

    /** A load for it has ended: its pins end. */
    public void loadEnded(LiveAttempt attempt) {
        KeptPages.loaded(attempt);
        attempt.load(null);
        releasePins(attempt);
    }

    /** Attempts whose wait is over continue with what the host holds; device pages of finished attempts come free. */
    @Override
    public void expire() {
        expireFinds();
        expireWaits();
        expireFinished();
    }

    private void expireWaits() {
        for (Optional<Key> due = waits.pollDue(context.nowMs()); due.isPresent(); due = waits.pollDue(context.nowMs())) {
            LiveAttempt attempt = attempts.get(due.get());
            if (attempt != null) {
                expire(attempt);
            }
        }
    }

    public void expire(LiveAttempt attempt) {
        context.counters().increment(AgentCounter.WAITS_EXPIRED);
        if (attempt.state() == LiveAttempt.State.PROBING) {
            cancelProbe(attempt);
            answer(attempt, 0, Offer.Reason.WAIT_EXPIRED);
            return;
        }
        ready(attempt, Offer.Reason.WAIT_EXPIRED);
        Attempt id = attempt.id();
        long waitedMs = context.nowMs() - attempt.submittedMs();
        context.append("", e -> new WaitExpired(e, id.request(), id.attempt(), waitedMs));
    }

    /** Ends all waits. */
    public void expireAll() {
        all().stream().filter(attempt -> waits.contains(key(attempt))).forEach(this::expire);
    }

    /** The epoch of the agent has ended: what it says later of these attempts would name requests that have ended on the log. */
    public void leaveLog() {
        attempts.values().forEach(attempt -> attempt.setLogged(false));
        lag.clear();
    }

    // --- ends

    /** Host pins of the attempt and of its lease go; those of operations stay. */
    public void releasePins(LiveAttempt attempt) {
        context.pages().unpinAll(attempt.hostPin());
        context.disk().index().unpinAll(attempt.hostPin());
        String lease = attempt.lease();
        if (lease != null) {
            context.pages().unpinAll(lease);
            attempt.leased(null);
        }
        takeOffer(attempt);
    }

    /** The caller of this Submit is gone, so the attempt ends. Pages of a load whose answer was not received are the engine's again. */
    @Override
    public void callGone(CallGone gone) {
        find(gone.attempt().request(), gone.attempt().attempt())
                .ifPresent(attempt -> attempt.reused().values().removeIf(block -> gone.pages().contains(block.page())));
        attempts.values().stream().filter(attempt -> attempt.submitted().call() == gone.call() && attempt.state() == LiveAttempt.State.PROBING)
                .findFirst().ifPresent(attempt -> {
            expire(attempt);
            abandon(attempt, RequestReason.CLIENT_CANCELLED);
        });
    }

    @Override
    public void sessionGone(String session) {
        for (LiveAttempt attempt : ofSession(session)) {
            if (attempt.state() == LiveAttempt.State.PROBING) {
                engines.refuse(attempt.submitted().call(), Refusal.UNKNOWN_SESSION, "the session has ended", false);
            }
            if (attempt.live()) {
                abandon(attempt, RequestReason.ENGINE_GONE);
            } else {
                settled(attempt);
            }
        }
    }

    /** Cancels an attempt. The log gets an event if it has one of the attempt. */
    public void abandon(LiveAttempt attempt, RequestReason reason) {
        if (attempt.logged()) {
            Attempt id = attempt.id();
            context.append("", e -> new RequestCancelled(e, id.request(), id.attempt(), reason));
        }
        KeptPages.pin(context.device(), attempt);
        end(attempt, LiveAttempt.State.GONE, reason == RequestReason.ENGINE_GONE ? OperationReason.ENGINE_GONE : OperationReason.CANCELLED);
        context.noticeReleased(context.device().unpinAll(attempt.finishPin()));
    }

    /** An attempt that has ended in good order: what it sealed or reused stays where it is until a command has come, or could not be coming. */
    public void finish(LiveAttempt attempt, boolean keepPages) {
        KeptPages.pin(context.device(), attempt);
        List<Integer> saved = KeptPages.notWritten(context, attempt);
        boolean command = keepPages && attempt.logged() && context.phase() == AgentPhase.ON_LOG
                && context.device().pinnedBy(attempt.finishPin()).size() > saved.size();
        if (command) {
            end(attempt, LiveAttempt.State.FINISHED, OperationReason.CANCELLED);
            context.noticeReleased(context.device().unpin(attempt.finishPin(), saved));
            int pages = context.device().pinnedBy(attempt.finishPin()).size();
            finished.add(attempt, pages, context.nowMs() + context.limits().times().writeBackPatienceMs());
            context.device().endPinsAt(attempt.finishPin(), context.nowMs() + context.limits().times().writeBackWaitMs());
        } else {
            end(attempt, LiveAttempt.State.GONE, OperationReason.CANCELLED);
            context.noticeReleased(context.device().unpinAll(attempt.finishPin()));
        }
    }

    /** Pages of a finished attempt that nothing more will be written back from. */
    public void releaseFinished(LiveAttempt attempt) {
        if (attempt.state() == LiveAttempt.State.FINISHED) {
            settled(attempt);
            context.noticeReleased(context.device().unpinAll(attempt.finishPin()));
        }
    }

    /** No command has come for these finished attempts in time: they wait on where the engine can spare the pages. */
    private void expireFinished() {
        long now = context.nowMs();
        for (Optional<String> due = context.device().pollDue(now); due.isPresent(); due = context.device().pollDue(now)) {
            OptionalLong until = isBeingWritten(due.get()) ? OptionalLong.of(now + context.limits().times().writeBackWaitMs())
                    : finished.mayWaitOn(due.get(), now, context.device().capacity(), context.limits().bounds().requests());
            if (until.isPresent()) {
                context.device().endPinsAt(due.get(), until.getAsLong());
            } else {
                context.counters().increment(AgentCounter.PINS_EXPIRED);
                finished.find(due.get()).ifPresent(this::releaseFinished);
            }
        }
    }

    /** Whether a batch of the attempt is on its way: the command for the next one comes after its end. */
    private boolean isBeingWritten(String pin) {
        return operations.all().stream().anyMatch(session -> session instanceof WriteBack batch && pin.equals(LiveAttempt.finishPin(batch.owner())));
    }

    /** A batch of a finished attempt has ended: where more may follow, its pages wait for the next command as they did for the first. */
    public void ended(TransferSession session) {
        if (session instanceof WriteBack batch) {
            context.device().endPinsAt(LiveAttempt.finishPin(batch.owner()), context.nowMs() + context.limits().times().writeBackWaitMs());
        }
    }

    /** Frees the pages of all finished attempts: no command will come. */
    public void releaseAllFinished() {
        all().forEach(this::releaseFinished);
    }

    /** Ends the attempt. It abandons a fetch for this attempt alone, and a load into pages that the engine takes back. */
    void end(LiveAttempt attempt, LiveAttempt.State state, OperationReason why) {
        attempt.become(state);
        waits.clear(key(attempt));
        attempt.owner().end();
        releasePins(attempt);
        TransferSession fetch = attempt.fetch();
        if (fetch != null && !operations.isJoined(fetch)) {
            operations.cancel(fetch, OperationReason.CANCELLED);
        }
        TransferSession load = attempt.load();
        if (load != null) {
            operations.abandon(load, why);
        }
        if (state == LiveAttempt.State.GONE) {
            forget(attempt);
        }
    }

    /** A finished attempt has no pin left. */
    void settled(LiveAttempt attempt) {
        attempt.become(LiveAttempt.State.GONE);
        forget(attempt);
    }

    private void forget(LiveAttempt attempt) {
        keys -= attempts.remove(key(attempt)) == null ? 0 : attempt.keys().size();
        newest.remove(attempt.id().request(), attempt);
        finished.remove(attempt.finishPin());
        cancelProbe(attempt);
        probes.remove(attempt.probe());
        finds.remove(attempt.find());
        findEnds.clear(attempt.find());
    }

    private void cancelProbe(LiveAttempt attempt) {
        if (probes.containsKey(attempt.probe())) {
            context.ports().store().cancelProbe(attempt.probe());
        }
    }

    private static Key key(LiveAttempt attempt) {
        return new Key(attempt.id().request(), attempt.id().attempt());
    }
}
