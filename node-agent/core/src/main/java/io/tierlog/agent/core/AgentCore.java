/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.BuffersRegistered;
import io.tierlog.agent.core.AgentInput.CallGone;
import io.tierlog.agent.core.AgentInput.Cancelled;
import io.tierlog.agent.core.AgentInput.CommandReceived;
import io.tierlog.agent.core.AgentInput.CopiesEnded;
import io.tierlog.agent.core.AgentInput.DeviceEvicted;
import io.tierlog.agent.core.AgentInput.DiskFound;
import io.tierlog.agent.core.AgentInput.DiskUnitEnded;
import io.tierlog.agent.core.AgentInput.ExistAsked;
import io.tierlog.agent.core.AgentInput.Fenced;
import io.tierlog.agent.core.AgentInput.Finished;
import io.tierlog.agent.core.AgentInput.LeaseGivenUp;
import io.tierlog.agent.core.AgentInput.LoadAsked;
import io.tierlog.agent.core.AgentInput.PeerReadAsked;
import io.tierlog.agent.core.AgentInput.PeerReadOver;
import io.tierlog.agent.core.AgentInput.PeerUnitEnded;
import io.tierlog.agent.core.AgentInput.PeersFound;
import io.tierlog.agent.core.AgentInput.Prefilled;
import io.tierlog.agent.core.AgentInput.ReadAsked;
import io.tierlog.agent.core.AgentInput.Registered;
import io.tierlog.agent.core.AgentInput.Registration;
import io.tierlog.agent.core.AgentInput.ReserveAsked;
import io.tierlog.agent.core.AgentInput.SaveAsked;
import io.tierlog.agent.core.AgentInput.Sealed;
import io.tierlog.agent.core.AgentInput.SeenInStore;
import io.tierlog.agent.core.AgentInput.SessionClosed;
import io.tierlog.agent.core.AgentInput.SessionOpened;
import io.tierlog.agent.core.AgentInput.StopAsked;
import io.tierlog.agent.core.AgentInput.StoreProbed;
import io.tierlog.agent.core.AgentInput.StoreUnitEnded;
import io.tierlog.agent.core.AgentInput.Submitted;
import io.tierlog.agent.core.AgentInput.TimePassed;
import io.tierlog.agent.core.device.DevicePins;
import io.tierlog.agent.core.disk.DiskIndex;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.event.AgentHeartbeat;
import io.tierlog.schemas.event.AgentStopping;
import java.util.List;

/**
 * The agent of one node as a state machine: it owns the host pages, answers engines, runs commands, and tells the log what happened.
 *
 * <p>One thread calls it, one input at a time; everything it does, it does through its ports before the call returns, and no port calls
 * back into it. It has no clock, no file and no random source: the same inputs at the same times lead to the same effects. A throw means a
 * bug, and the process should end. The price: whatever takes long must be cut into units by the ports, and all waiting is a deadline that the
 * caller has to bring with {@link TimePassed}.
 */
public final class AgentCore {
    private final Desk desk;
    private final Engines engines;
    private final Operations operations;
    private final Requests requests;
    private final DoorCalls door;
    private final Loads loads;
    private final Leases leases;
    private final Reservations reservations;
    private final Looks looks;
    private final Saves saves;
    private final Reads reads;
    private final WriteBacks writeBacks;
    private final Copies copies;
    private final PeerReads peerReads;
    private final Commands commands;
    private long nextHeartbeatMs = Long.MAX_VALUE;

    /** An agent that is not on the log yet; all host pages are free. */
    public AgentCore(AgentLimits limits, Registration registration, Ports ports) {
        desk = new Desk(limits, registration, ports);
        operations = new Operations(desk);
        engines = new Engines(desk, operations);
        leases = new Leases(desk);
        PeerChoice peers = new PeerChoice(desk);
        requests = new Requests(desk, operations, engines, leases, peers);
        door = new DoorCalls(desk, engines, requests);
        loads = new Loads(desk, operations, engines, requests, leases);
        reservations = new Reservations(desk, engines, requests, leases);
        looks = new Looks(desk, engines);
        saves = new Saves(desk, engines, door, operations);
        reads = new Reads(desk, engines, operations);
        operations.onEnd(session -> {
            saves.ended(session);
            reads.ended(session);
        });
        HostFill fill = new HostFill(desk, operations);
        writeBacks = new WriteBacks(desk, operations, requests, door, fill);
        copies = new Copies(desk, operations, requests, door);
        Prefetches prefetches = new Prefetches(desk, operations, new Prefetch.Rooms(fill, requests, peers));
        peerReads = new PeerReads(desk);
        commands = new Commands(
                desk, operations, requests,
                new Commands.Starters(
                        prefetches, new Promotes(desk, operations, fill), writeBacks, new BackUps(desk, operations), copies,
                        new Drops(desk, operations),
                        saves, peerReads));
    }

    /** Takes one input. What was due by {@code nowMs} (a monotonic clock) is due before it. */
    public void on(AgentInput input, long nowMs) {
        desk.nowMs(nowMs);
        passTime();
        take(input);
        goOn();
    }

    /**
     * Lets go of blocks of a tier, as for want of room, because whoever holds the core wants them gone (scenarios do; no door has the call yet):
     * deepest first, and none that is pinned, or extended by one that
     * stays.
     *
     * @param tier HOST or DISK
     * @return what became of each key in order: COMPLETED, NOT_SERVING, or PINNED
     */
    public List<OperationReason> evict(Tier tier, String namespace, List<Bytes> keys) {
        List<OperationReason> answers = new Evictions(desk, tier, namespace).run(keys);
        goOn();
        return answers;
    }

    /** Whether all of {@code keys} serve on that tier, HOST or DISK. */
    public boolean serves(Tier tier, String namespace, List<Bytes> keys) {
        return keys.stream().allMatch(key -> tier == Tier.HOST
                ? desk.pages.serving(namespace, key).isPresent()
                : desk.disk.serving(namespace, key).isPresent());
    }

    /** When the caller should bring {@link TimePassed} at the latest; {@link Long#MAX_VALUE} when nothing is due. */
    public long nextDeadlineMs() {
        long pins = Math.min(desk.pages.nextPinEndMs(), desk.device.nextPinEndMs());
        long waits = Math.min(requests.nextDeadlineMs(), writeBacks.nextDeadlineMs());
        long background = Math.min(nextHeartbeatMs, desk.disk.nextDeadlineMs());
        return Math.min(Math.min(background, Math.min(leases.nextDeadlineMs(), reads.nextDeadlineMs())),
                Math.min(peerReads.nextDeadlineMs(), Math.min(pins, waits)));
    }

    /** How the agent is now. */
    public AgentStatus status() {
        return new AgentStatus(
                desk.phase(),
                desk.incarnation(),
                desk.journal.highest(),
                desk.usage(),
                desk.pages.largestFreeRun(),
                requests.size(),
                requests.waiting(),
                operations.active(),
                desk.device.pinCount(),
                new AgentStatus.Bounce(desk.bounce.capacity(), desk.bounce.free(), desk.bounce.quarantined()),
                desk.disk.isOpen(),
                desk.counters.snapshot());
    }

    /**
     * Looks at every page and pin; for tests and for a sample now and then.
     *
     * @throws IllegalStateException when a table contradicts itself
     */
    public void check() {
        desk.pages.check();
        desk.device.check();
        desk.disk.index.check();
        desk.bounce.check();
    }

    /** What is on the disk, for tests. */
    DiskIndex disk() {
        return desk.disk.index;
    }

    /** What is in the device pages and who pins them, for tests. */
    DevicePins device() {
        return desk.device;
    }

    private void take(AgentInput input) {
        switch (input) {
            case Registered in -> registered(in);
            case Fenced in -> fence();
            case CommandReceived in -> command(in.command());
            case SessionOpened in -> engines.open(in);
            case SessionClosed in -> sessionClosed(in);
            case BuffersRegistered in -> engines.register(in);
            case Submitted in -> requests.submit(in);
            case LoadAsked in -> loads.run(in);
            case ReadAsked in -> reads.run(in);
            case ExistAsked in -> looks.run(in);
            case ReserveAsked in -> reservations.reserve(in);
            case LeaseGivenUp in -> reservations.giveUp(in);
            case CallGone in -> callGone(in);
            case Prefilled in -> door.prefilled(in);
            case Sealed in -> door.sealed(in);
            case SaveAsked in -> saves.run(in);
            case Finished in -> door.finished(in);
            case Cancelled in -> door.cancelled(in);
            case DeviceEvicted in -> door.evicted(in);
            case CopiesEnded in -> operations.unitEnded(in.unit(), in.results(), Stream.DEVICE);
            case StoreProbed in -> {
                if (!looks.probed(in)) {
                    requests.probed(in);
                }
            }
            case StoreUnitEnded in -> operations.unitEnded(in.unit(), in.results(), Stream.STORE);
            case DiskUnitEnded in -> diskUnitEnded(in);
            case PeersFound in -> requests.found(in);
            case PeerUnitEnded in -> operations.unitEnded(in.unit(), in.results(), Stream.PEER);
            case PeerReadAsked in -> peerReads.asked(in);
            case PeerReadOver in -> peerReads.readOver(in);
            case DiskFound in -> desk.disk.found(in);
            case SeenInStore in -> desk.disk.seen(in);
            case TimePassed in -> {}
            case StopAsked in -> stop();
        }
    }

    /** Whatever has changed: what waited for room begins, units go out, the disk works on, and whoever was asked to stop does when all is idle. */
    private void goOn() {
        writeBacks.retry();
        operations.pump();
        operations.giveUpOnBounce();
        desk.disk.work();
        stopWhenIdle();
    }

    // --- time

    private void passTime() {
        requests.expire();
        requests.expireFinished();
        writeBacks.expire();
        leases.expire();
        reads.expire();
        peerReads.expire();
        desk.counters.add(AgentCounter.PINS_EXPIRED, desk.pages.expirePins(desk.nowMs()));
        if (desk.nowMs() >= nextHeartbeatMs) {
            heartbeat();
        }
    }

    private void heartbeat() {
        desk.tell("", e -> new AgentHeartbeat(
                e, desk.usage(), desk.journal.highest(), requests.waiting(), operations.active()));
        nextHeartbeatMs = desk.nowMs() + desk.limits.times().heartbeatMs();
    }

    // --- the life of the process

    private void registered(Registered in) {
        if (desk.phase() != AgentPhase.UNREGISTERED) {
            return; // said twice
        }
        desk.become(AgentPhase.ON_LOG);
        desk.incarnation(in.incarnation());
        desk.thresholdBlocks(in.policy().prefetchThresholdBlocks());
        desk.journal.startAfter(in.commandSequence());
        engines.tellAllAttached();
        heartbeat();
    }

    private void command(Command command) {
        if (!commands.isForUs(command)) {
            return;
        }
        if (command instanceof FenceAgent) {
            fence();
        } else {
            commands.take(command);
        }
    }

    private void fence() {
        if (desk.phase() == AgentPhase.ON_LOG) {
            desk.become(AgentPhase.FENCED);
            drain();
        }
    }

    private void stop() {
        if (desk.phase() == AgentPhase.UNREGISTERED) {
            desk.become(AgentPhase.STOPPED);
        } else if (desk.phase() == AgentPhase.ON_LOG) {
            desk.become(AgentPhase.STOPPING);
            drain();
        }
    }

    /** Nobody waits for a command any more, and nothing new begins. */
    private void drain() {
        requests.expireAll();
        writeBacks.refuseAll(OperationReason.NO_ROOM, "the agent goes away");
        requests.releaseAllFinished();
        saves.refuseAll();
        peerReads.closeAll();
    }

    private void stopWhenIdle() {
        boolean draining = desk.phase() == AgentPhase.STOPPING || desk.phase() == AgentPhase.FENCED;
        if (!draining || operations.active() > 0 || peerReads.sending() > 0) {
            return;
        }
        if (desk.phase() == AgentPhase.STOPPING) {
            desk.tell("", e -> new AgentStopping(e, e.sender().substring(e.sender().lastIndexOf('/') + 1)));
        }
        desk.become(AgentPhase.STOPPED);
        nextHeartbeatMs = Long.MAX_VALUE;
    }

    private void diskUnitEnded(DiskUnitEnded in) {
        if (!desk.disk.unitEnded(in.unit(), in.results())) {
            operations.unitEnded(in.unit(), in.results(), Stream.DISK);
        }
    }

    /** What the call had begun comes to its end without an answer. */
    private void callGone(CallGone in) {
        requests.callGone(in.call());
        Callers.callGone(desk, operations, in);
        leases.callGone(in.call());
        looks.callGone(in.call());
        saves.callGone(in.call());
    }

    private void sessionClosed(SessionClosed in) {
        if (engines.hasPool(in.session())) {
            desk.device.close();
            desk.ports.device().detach();
        }
        door.sessionGone(in.session());
        Callers.sessionGone(operations, in.session());
        leases.sessionGone(in.session());
        looks.sessionGone(in.session());
        saves.sessionGone(in.session());
        writeBacks.engineGone(in.session());
        copies.engineGone(in.session());
        engines.close(in);
    }
}
