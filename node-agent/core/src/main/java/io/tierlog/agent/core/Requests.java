/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.Attempt;
import io.tierlog.agent.core.AgentInput.PeersFound;
import io.tierlog.agent.core.AgentInput.StoreProbed;
import io.tierlog.agent.core.AgentInput.Submitted;
import io.tierlog.agent.core.disk.DiskCopy;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.time.Deadlines;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.ResumeRequest;
import io.tierlog.schemas.event.RequestCancelled;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WaitExpired;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SequencedMap;

/**
 * The attempts of requests: what they find when they come, how long they wait, what they are offered, and that their pins go with them.
 *
 * <p>An offer is what serves and is pinned at that moment. For the core's one thread.
 */
final class Requests {
    /** Names an attempt within the node, as commands do. */
    private record Key(String request, int attempt) {}

    private final Desk desk;
    private final Operations operations;
    private final Engines engines;
    private final Leases leases;
    private final SequencedMap<Key, LiveAttempt> attempts = new LinkedHashMap<>();
    private final Map<String, LiveAttempt> newest = new LinkedHashMap<>();
    private final Map<Long, LiveAttempt> probes = new LinkedHashMap<>();
    private final FinishedAttempts finished = new FinishedAttempts();
    private final Deadlines<Key> waits = new Deadlines<>();
    private final PeerChoice peers;
    private final Map<Long, LiveAttempt> finds = new LinkedHashMap<>();
    private final Deadlines<Long> findEnds = new Deadlines<>();

    Requests(Desk desk, Operations operations, Engines engines, Leases leases, PeerChoice peers) {
        this.peers = peers;
        this.desk = desk;
        this.operations = operations;
        this.engines = engines;
        this.leases = leases;
    }

    // --- looking

    int size() {
        return attempts.size();
    }

    /** Attempts that wait for the store's answer or for a fetch. */
    int waiting() {
        return waits.size();
    }

    long nextDeadlineMs() {
        return Math.min(waits.nextMs(), findEnds.nextMs());
    }

    Optional<LiveAttempt> find(String request, int attempt) {
        return Optional.ofNullable(attempts.get(new Key(request, attempt)));
    }

    /** The attempt, if the engine waits for a notice about it. */
    Optional<LiveAttempt> waiting(String request, int attempt) {
        return find(request, attempt).filter(LiveAttempt::waiting);
    }

    List<LiveAttempt> ofSession(String session) {
        return attempts.values().stream().filter(attempt -> attempt.id().session().equals(session)).toList();
    }

    List<LiveAttempt> all() {
        return List.copyOf(attempts.values());
    }

    // --- Submit

    void submit(Submitted in) {
        Attempt id = in.attempt();
        Optional<Refusal> session = engines.whyNot(id.session());
        if (session.isPresent()) {
            engines.refuse(in.call(), session.get(), Engines.FIRST, false);
            return;
        }
        Optional<String> wrong = DoorCheck.submit(in, desk.limits.bounds().keysPerRequest());
        LiveAttempt before = newest.get(id.request());
        if (wrong.isPresent()) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, wrong.get(), false);
        } else if (!desk.takesWork()) {
            engines.refuse(in.call(), Refusal.CLOSING, "The agent goes away", false);
        } else if (before != null && (before.id().attempt() >= id.attempt() || !before.id().session().equals(id.session()))) {
            repeat(in, before);
        } else if (attempts.size() >= desk.limits.bounds().requests() || desk.ports.events().congested()) {
            engines.refuse(in.call(), Refusal.BUSY, "the agent has all the requests it can take, or its log does not take more", true);
        } else {
            if (before != null && before.live()) {
                giveUp(before, RequestReason.CLIENT_CANCELLED);
            }
            admit(in);
        }
    }

    private void repeat(Submitted in, LiveAttempt before) {
        boolean same = before.id().equals(in.attempt()) && before.submitted().keys().equals(in.keys());
        if (same && before.waiting()) {
            desk.ports.engines().waiting(in.call());
        } else if (same && before.state() == LiveAttempt.State.ANSWERED) {
            desk.ports.engines().offer(in.call(), before.offer());
        } else {
            String detail = "attempt " + before.id().attempt() + " of request " + in.attempt().request() + " is known here";
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, detail, false);
        }
    }

    private void admit(Submitted in) {
        desk.counters.increment(AgentCounter.SUBMITTED);
        LiveAttempt attempt = new LiveAttempt(in, desk.nowMs());
        Key key = new Key(in.attempt().request(), in.attempt().attempt());
        attempts.put(key, attempt);
        newest.put(in.attempt().request(), attempt);
        if (!in.reuseEligible()) {
            answer(attempt, 0, Offer.Reason.NOT_REUSE_ELIGIBLE);
            return;
        }
        pinWhatIsHere(attempt);
        boolean nothingBelow = attempt.storeFrom() >= attempt.reusable();
        if (nothingBelow && attempt.diskIndexes().isEmpty()) {
            answer(attempt, 0, Offer.Reason.ALL_ON_HOST);
        } else if (!desk.onTheLog() || waits.size() >= desk.limits.bounds().waiting()) {
            answer(attempt, 0, Offer.Reason.AGENT_BUSY);
        } else {
            waits.set(key, desk.nowMs() + desk.limits.times().prefetchWaitMs());
            if (nothingBelow) {
                letWait(attempt, 0);
            } else {
                probe(attempt);
            }
        }
    }

    private void probe(LiveAttempt attempt) {
        long unit = desk.nextUnit();
        attempt.probe(unit);
        probes.put(unit, attempt);
        List<Bytes> asked = attempt.keys().subList(attempt.storeFrom(), attempt.reusable());
        desk.ports.store().probe(unit, attempt.namespace(), asked);
        if (desk.ports.peers().isPresent() && asked.size() > desk.thresholdBlocks()) {
            long find = desk.nextUnit();
            attempt.find(find);
            finds.put(find, attempt);
            findEnds.set(find, desk.nowMs() + desk.limits.peers().findMs());
            desk.ports.peers().get().finder().find(find, attempt.namespace(), attempt.storeFrom(), asked);
        }
    }

    /** Who else has blocks is known. */
    void found(PeersFound in) {
        LiveAttempt attempt = finds.remove(in.unit());
        if (attempt == null) {
            desk.counters.increment(AgentCounter.LATE_COMPLETIONS);
            return;
        }
        findEnds.clear(in.unit());
        attempt.find(0);
        peers.choose(attempt.id().request(), in, attempt.storeFrom(), attempt.reusable() - attempt.storeFrom()).ifPresent(attempt::peer);
        goOn(attempt);
    }

    /** Nobody has said in time who else has blocks: nobody has. */
    private void expireFinds() {
        for (Optional<Long> due = findEnds.pollDue(desk.nowMs()); due.isPresent(); due = findEnds.pollDue(desk.nowMs())) {
            LiveAttempt attempt = finds.remove(due.get());
            if (attempt != null) {
                desk.counters.increment(AgentCounter.FINDS_UNANSWERED);
                attempt.find(0);
                goOn(attempt);
            }
        }
    }

    private void letWait(LiveAttempt attempt, int present) {
        attempt.become(LiveAttempt.State.WAITING);
        attempt.storeBlocks(present);
        desk.ports.engines().waiting(attempt.submitted().call());
        tellSubmitted(attempt, present, false);
    }

    private void pinWhatIsHere(LiveAttempt attempt) {
        List<Page> path = new ArrayList<>();
        for (int index = 0; index < attempt.reusable(); index++) {
            Optional<Page> page = onHost(attempt, index);
            page.ifPresent(path::add);
            if (index < attempt.submitted().deviceBlocks()) {
                continue;
            }
            Optional<DiskCopy> copy = page.isPresent() ? Optional.empty() : onDisk(attempt, index);
            if (page.isPresent()) {
                attempt.hostIndexes().add(index);
                desk.pages.pin(attempt.hostPin(), page.get());
            } else if (copy.isPresent()) {
                attempt.diskIndexes().add(index);
                desk.disk.index.pin(attempt.hostPin(), copy.get()); // until it has its offer
            }
            if ((page.isPresent() || copy.isPresent()) && index == attempt.storeFrom()) {
                attempt.storeFrom(index + 1);
            }
        }
        desk.pages.touch(path);
    }

    private Optional<DiskCopy> onDisk(LiveAttempt attempt, int index) {
        return desk.disk.serving(attempt.namespace(), attempt.keys().get(index)).filter(copy -> copy.block().index() == index);
    }

    private Optional<Page> onHost(LiveAttempt attempt, int index) {
        return desk.pages.serving(attempt.namespace(), attempt.keys().get(index)).filter(page -> page.block().index() == index);
    }

    /** The store has said what it has. */
    void probed(StoreProbed in) {
        LiveAttempt attempt = probes.remove(in.unit());
        if (attempt == null || attempt.state() != LiveAttempt.State.PROBING) {
            desk.counters.increment(AgentCounter.LATE_COMPLETIONS);
            return;
        }
        desk.counters.add(AgentCounter.PROBES_UNANSWERED, in.reachable() ? 0 : 1);
        attempt.storeAnswered(Math.clamp(in.present(), 0, attempt.reusable() - attempt.storeFrom()));
        goOn(attempt);
    }

    /** Once both the store and the other nodes have been heard, or need not be. */
    private void goOn(LiveAttempt attempt) {
        if (attempt.state() != LiveAttempt.State.PROBING || attempt.storeAnswer().isEmpty() || attempt.find() != 0) {
            return;
        }
        int present = attempt.storeAnswer().getAsInt();
        if (present == 0 && !attempt.diskContinues() && attempt.peer() == null) {
            answer(attempt, 0, Offer.Reason.NOTHING_BELOW);
        } else {
            letWait(attempt, present);
        }
    }

    // --- answers

    /** Answers the Submit call; nothing is ever fetched for this attempt. */
    private void answer(LiveAttempt attempt, int storeBlocks, Offer.Reason reason) {
        desk.counters.increment(AgentCounter.ANSWERED_AT_ONCE);
        attempt.become(LiveAttempt.State.ANSWERED);
        waits.clear(key(attempt));
        desk.ports.engines().offer(attempt.submitted().call(), offer(attempt, reason));
        tellSubmitted(attempt, storeBlocks, true);
    }

    /** A waiting attempt goes on with what is pinned for it now. */
    void ready(LiveAttempt attempt, Offer.Reason reason) {
        attempt.become(LiveAttempt.State.ANSWERED);
        waits.clear(key(attempt));
        Attempt id = attempt.id();
        desk.ports.engines().ready(id.session(), id.request(), id.attempt(), offer(attempt, reason));
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
                desk.pages.pin(attempt.hostPin(), page.get());
            }
            sources.add(attempt.sourceOf(index));
        }
        desk.disk.index.unpinAll(attempt.hostPin());
        desk.counters.add(AgentCounter.OFFERED_BLOCKS, sources.size());
        Offer offer = sources.isEmpty() ? Offer.none(first, reason) : new Offer(first, sources, reason, leases.offered(attempt));
        attempt.offer(offer);
        return offer;
    }

    private void tellSubmitted(LiveAttempt attempt, int storeBlocks, boolean answered) {
        if (!desk.onTheLog()) {
            return;
        }
        attempt.setLogged();
        Submitted in = attempt.submitted();
        List<Integer> hostIndexes = List.copyOf(attempt.hostIndexes());
        List<Integer> diskIndexes = List.copyOf(attempt.diskIndexes());
        int storeFrom = attempt.storeFrom();
        desk.tell("", e -> new RequestSubmitted(
                e, in.attempt().request(), in.attempt().attempt(), in.namespace(), in.keys(), in.promptTokens(), in.blockTokens(),
                in.deviceBlocks(), hostIndexes, diskIndexes, storeFrom, storeBlocks, in.reuseEligible(), answered,
                answered ? null : attempt.peer(), engines.instance(in.attempt().session())));
    }

    /** The controller fetches nothing for it. */
    void resume(ResumeRequest command) {
        Optional<LiveAttempt> attempt = waiting(command.request(), command.attempt());
        if (attempt.isPresent()) {
            ready(attempt.get(), reasonFor(command.reason()));
        } else {
            desk.refuse(command.header(), null, OperationReason.MOVED_ON, "the attempt does not wait");
        }
    }

    private static Offer.Reason reasonFor(RequestReason reason) {
        return switch (reason) {
            case BELOW_THRESHOLD -> Offer.Reason.BELOW_THRESHOLD;
            case NOTHING_BELOW -> Offer.Reason.NOTHING_BELOW;
            case NOT_REUSE_ELIGIBLE -> Offer.Reason.NOT_REUSE_ELIGIBLE;
            case FETCH_FAILED -> Offer.Reason.FETCH_FAILED;
            case QUOTA_EXCEEDED -> Offer.Reason.NO_ROOM;
            case UNKNOWN, DRAINING, SUBMITTED, ANSWERED_AT_ONCE, FETCH_ISSUED, FETCH_ARRIVED, WAIT_EXPIRED, PREFILLED, COMPLETED, PREEMPTED,
                    CLIENT_CANCELLED, ENGINE_GONE, NODE_LOST, NEW_ATTEMPT, CONTEXT_LENGTH, KV_BUDGET, UNKNOWN_ADAPTER ->
                Offer.Reason.AGENT_BUSY;
        };
    }

    /** A fetch for it has ended. */
    void fetchEnded(LiveAttempt attempt, Session fetch, boolean whole) {
        if (attempt.awaits(fetch)) {
            ready(attempt, whole ? Offer.Reason.FETCHED : Offer.Reason.FETCH_FAILED);
        }
        if (attempt.fetch() == fetch) {
            attempt.fetch(null);
        }
    }

    /** A load takes what is offered: the offer is over, its pins end with the load. */
    void takeOffer(LiveAttempt attempt) {
        leases.end(attempt.offer().lease());
        attempt.offer(LiveAttempt.NOTHING);
    }

    /** A load for it has ended: what was pinned for it is pinned no more. */
    void loadEnded(LiveAttempt attempt) {
        attempt.load(null);
        releasePins(attempt);
    }

    /** Those whose wait has come to its end go on with what the host holds. */
    void expire() {
        expireFinds();
        for (Optional<Key> due = waits.pollDue(desk.nowMs()); due.isPresent(); due = waits.pollDue(desk.nowMs())) {
            LiveAttempt attempt = attempts.get(due.get());
            if (attempt != null) {
                expire(attempt);
            }
        }
    }

    void expire(LiveAttempt attempt) {
        desk.counters.increment(AgentCounter.WAITS_EXPIRED);
        if (attempt.state() == LiveAttempt.State.PROBING) {
            answer(attempt, 0, Offer.Reason.WAIT_EXPIRED);
            return;
        }
        ready(attempt, Offer.Reason.WAIT_EXPIRED);
        Attempt id = attempt.id();
        long waitedMs = desk.nowMs() - attempt.submittedMs();
        desk.tell("", e -> new WaitExpired(e, id.request(), id.attempt(), waitedMs));
    }

    /** Nobody waits any more. */
    void expireAll() {
        all().stream().filter(attempt -> waits.contains(key(attempt))).forEach(this::expire);
    }

    // --- ends

    /** Host pins of the attempt and of its lease go; those of operations stay. */
    void releasePins(LiveAttempt attempt) {
        desk.pages.unpinAll(attempt.hostPin());
        desk.disk.index.unpinAll(attempt.hostPin());
        String lease = attempt.lease();
        if (lease != null) {
            desk.pages.unpinAll(lease);
            attempt.leased(null);
        }
        takeOffer(attempt);
    }

    /** Nobody waits for the answer to this Submit call any more: nobody goes on with its attempt either. */
    void callGone(long call) {
        attempts.values().stream().filter(attempt -> attempt.submitted().call() == call && attempt.state() == LiveAttempt.State.PROBING)
                .findFirst().ifPresent(attempt -> {
            expire(attempt);
            giveUp(attempt, RequestReason.CLIENT_CANCELLED);
        });
    }

    /** An attempt that nobody goes on with. The log hears of it if it heard of the attempt. */
    void giveUp(LiveAttempt attempt, RequestReason reason) {
        if (attempt.logged()) {
            Attempt id = attempt.id();
            desk.tell("", e -> new RequestCancelled(e, id.request(), id.attempt(), reason));
        }
        pinSealed(attempt);
        end(attempt, LiveAttempt.State.GONE, reason == RequestReason.ENGINE_GONE ? OperationReason.ENGINE_GONE : OperationReason.CANCELLED);
        desk.released(desk.device.unpinAll(attempt.finishPin()));
    }

    /** An attempt that has ended in good order: what it sealed stays where it is until a command has come, or could not be coming. */
    void finish(LiveAttempt attempt, boolean keepSealed) {
        pinSealed(attempt);
        boolean command = keepSealed && attempt.logged() && desk.phase() == AgentPhase.ON_LOG
                && !desk.device.pinnedBy(attempt.finishPin()).isEmpty();
        if (command) {
            end(attempt, LiveAttempt.State.FINISHED, OperationReason.CANCELLED);
            int pages = desk.device.pinnedBy(attempt.finishPin()).size();
            finished.add(attempt, pages, desk.nowMs() + desk.limits.times().writeBackPatienceMs());
            desk.device.endPinsAt(attempt.finishPin(), desk.nowMs() + desk.limits.times().writeBackWaitMs());
        } else {
            end(attempt, LiveAttempt.State.GONE, OperationReason.CANCELLED);
            desk.released(desk.device.unpinAll(attempt.finishPin()));
        }
    }

    private void pinSealed(LiveAttempt attempt) {
        for (PagedBlock block : attempt.sealed().values()) {
            if (desk.device.content(block.page()).filter(content -> content.generation() == block.generation()).isPresent()) {
                desk.device.pin(attempt.finishPin(), attempt.owner(), block.page());
            }
        }
    }

    /** Pages of a finished attempt that nothing more will be written back from. */
    void releaseFinished(LiveAttempt attempt) {
        if (attempt.state() == LiveAttempt.State.FINISHED) {
            settled(attempt);
            desk.released(desk.device.unpinAll(attempt.finishPin()));
        }
    }

    /** No command has come for these finished attempts in time: they wait on where the engine can spare the pages. */
    void expireFinished() {
        long now = desk.nowMs();
        for (Optional<String> due = desk.device.pollDue(now); due.isPresent(); due = desk.device.pollDue(now)) {
            OptionalLong until = finished.mayWaitOn(due.get(), now, desk.device.capacity(), desk.limits.bounds().requests());
            if (until.isPresent()) {
                desk.device.endPinsAt(due.get(), until.getAsLong());
            } else {
                desk.counters.increment(AgentCounter.PINS_EXPIRED);
                finished.find(due.get()).ifPresent(this::releaseFinished);
            }
        }
    }

    /** No command comes any more. */
    void releaseAllFinished() {
        all().forEach(this::releaseFinished);
    }

    /** The attempt ends; a fetch for it alone is of no use to anyone, nor is a load into pages that the engine takes back. */
    void end(LiveAttempt attempt, LiveAttempt.State state, OperationReason why) {
        attempt.become(state);
        waits.clear(key(attempt));
        attempt.owner().end();
        releasePins(attempt);
        Session fetch = attempt.fetch();
        if (fetch != null && !operations.isJoined(fetch)) {
            operations.cancel(fetch, OperationReason.CANCELLED);
        }
        Session load = attempt.load();
        if (load != null) {
            operations.abandon(load, why);
        }
        if (state == LiveAttempt.State.GONE) {
            forget(attempt);
        }
    }

    /** Nothing of a finished attempt is pinned any more. */
    void settled(LiveAttempt attempt) {
        attempt.become(LiveAttempt.State.GONE);
        forget(attempt);
    }

    private void forget(LiveAttempt attempt) {
        attempts.remove(key(attempt));
        newest.remove(attempt.id().request(), attempt);
        finished.remove(attempt.finishPin());
        probes.remove(attempt.probe());
        finds.remove(attempt.find());
        findEnds.clear(attempt.find());
    }

    private static Key key(LiveAttempt attempt) {
        return new Key(attempt.id().request(), attempt.id().attempt());
    }
}
