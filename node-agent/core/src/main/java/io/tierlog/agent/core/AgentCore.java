/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.BuffersRegistered;
import io.tierlog.agent.core.api.AgentInput.CallGone;
import io.tierlog.agent.core.api.AgentInput.Cancelled;
import io.tierlog.agent.core.api.AgentInput.CommandReceived;
import io.tierlog.agent.core.api.AgentInput.CopiesEnded;
import io.tierlog.agent.core.api.AgentInput.DeviceEvicted;
import io.tierlog.agent.core.api.AgentInput.DiskFound;
import io.tierlog.agent.core.api.AgentInput.DiskUnitEnded;
import io.tierlog.agent.core.api.AgentInput.ExistCalled;
import io.tierlog.agent.core.api.AgentInput.Fenced;
import io.tierlog.agent.core.api.AgentInput.Finished;
import io.tierlog.agent.core.api.AgentInput.LeaseReleased;
import io.tierlog.agent.core.api.AgentInput.LoadCalled;
import io.tierlog.agent.core.api.AgentInput.LogLost;
import io.tierlog.agent.core.api.AgentInput.PeerReadCalled;
import io.tierlog.agent.core.api.AgentInput.PeerReadFinished;
import io.tierlog.agent.core.api.AgentInput.PeerUnitEnded;
import io.tierlog.agent.core.api.AgentInput.PeersFound;
import io.tierlog.agent.core.api.AgentInput.Prefilled;
import io.tierlog.agent.core.api.AgentInput.ReadCalled;
import io.tierlog.agent.core.api.AgentInput.Registered;
import io.tierlog.agent.core.api.AgentInput.Registration;
import io.tierlog.agent.core.api.AgentInput.ReserveCalled;
import io.tierlog.agent.core.api.AgentInput.SaveCalled;
import io.tierlog.agent.core.api.AgentInput.Sealed;
import io.tierlog.agent.core.api.AgentInput.SeenInStore;
import io.tierlog.agent.core.api.AgentInput.SessionClosed;
import io.tierlog.agent.core.api.AgentInput.SessionOpened;
import io.tierlog.agent.core.api.AgentInput.StopRequested;
import io.tierlog.agent.core.api.AgentInput.StoreProbed;
import io.tierlog.agent.core.api.AgentInput.StoreUnitEnded;
import io.tierlog.agent.core.api.AgentInput.Submitted;
import io.tierlog.agent.core.api.AgentInput.TimePassed;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.api.AgentStatus;
import io.tierlog.agent.core.call.EngineCalls;
import io.tierlog.agent.core.call.ExistCalls;
import io.tierlog.agent.core.call.LoadCalls;
import io.tierlog.agent.core.call.ReadCalls;
import io.tierlog.agent.core.call.ReservationCalls;
import io.tierlog.agent.core.call.SaveCalls;
import io.tierlog.agent.core.command.BackUpCommands;
import io.tierlog.agent.core.command.Commands;
import io.tierlog.agent.core.command.CopyCommands;
import io.tierlog.agent.core.command.DropCommands;
import io.tierlog.agent.core.command.PrefetchCommands;
import io.tierlog.agent.core.command.PromoteCommands;
import io.tierlog.agent.core.command.WriteBackCommands;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.context.Component;
import io.tierlog.agent.core.context.PinExpiry;
import io.tierlog.agent.core.device.DevicePins;
import io.tierlog.agent.core.disk.DiskIndex;
import io.tierlog.agent.core.engine.EngineSessions;
import io.tierlog.agent.core.operation.DeviceLoads;
import io.tierlog.agent.core.operation.HostFill;
import io.tierlog.agent.core.operation.ObjectDeletions;
import io.tierlog.agent.core.operation.Operations;
import io.tierlog.agent.core.operation.TransferPort;
import io.tierlog.agent.core.peer.PeerChoice;
import io.tierlog.agent.core.peer.PeerReadLeases;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.Ports;
import io.tierlog.agent.core.request.Leases;
import io.tierlog.agent.core.request.Requests;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.DeleteObjects;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.event.AgentStopping;
import java.util.List;

/**
 * The agent of one node as a state machine: it owns the host pages, answers engines, runs commands, and reports what happens to the log.
 *
 * <p>One thread calls it, one input at a time. It acts through its ports before the call returns, and no port calls back into it. It has no clock,
 * no file and no random source: the same inputs at the same times lead to the same effects. An exception means a bug, and the process should end.
 * Trade-off: the ports must cut slow work into units, and each wait is a deadline that the caller serves with {@link TimePassed}.
 */
public final class AgentCore {
    private final AgentContext context;
    private final EngineSessions engines;
    private final Operations operations;
    private final Leases leases;
    private final Requests requests;
    private final EngineCalls engineCalls;
    private final LoadCalls loads;
    private final ReservationCalls reservations;
    private final ExistCalls exists;
    private final SaveCalls saves;
    private final ReadCalls reads;
    private final WriteBackCommands writeBacks;
    private final PeerReadLeases peerReads;
    private final Commands commands;
    private final StoreLook storeLook;
    private final ObjectDeletions deletions;
    private final Heartbeats heartbeats;
    /** In the order in which they react to time, to callers that are gone, and to sessions that are gone. */
    private final List<Component> components;

    /** An agent that is not registered yet; all host pages are free. */
    public AgentCore(AgentLimits limits, Registration registration, Ports ports) {
        context = new AgentContext(limits, registration, ports);
        operations = new Operations(context);
        engines = new EngineSessions(context, operations);
        leases = new Leases(context);
        PeerChoice peers = new PeerChoice(context);
        requests = new Requests(context, operations, engines, leases, peers);
        engineCalls = new EngineCalls(context, engines, requests);
        loads = new LoadCalls(context, operations, engines, requests, leases);
        reservations = new ReservationCalls(context, engines, requests, leases);
        exists = new ExistCalls(context, engines);
        saves = new SaveCalls(context, engines, engineCalls, operations);
        reads = new ReadCalls(context, engines, operations);
        operations.onEnd(session -> {
            context.counters().ended(session.kind(), session.doneBlocks(), session.items().size());
            saves.ended(session);
            reads.ended(session);
            requests.ended(session);
        });
        HostFill fill = new HostFill(context, operations);
        writeBacks = new WriteBackCommands(context, operations, requests, engineCalls, fill);
        CopyCommands copies = new CopyCommands(context, operations, requests, engineCalls);
        peerReads = new PeerReadLeases(context);
        commands = new Commands(
                context, operations, requests,
                new Commands.Starters(
                        new PrefetchCommands(context, operations, fill, requests, peers),
                        new PromoteCommands(context, operations, fill),
                        writeBacks,
                        new BackUpCommands(context, operations),
                        copies,
                        new DropCommands(context, operations),
                        saves,
                        peerReads));
        storeLook = new StoreLook(context);
        deletions = new ObjectDeletions(context);
        heartbeats = new Heartbeats(context, () -> new Heartbeats.Content(
                context.usage(), context.journal().highest(), requests.waiting(), operations.active()));
        components = List.of(
                operations, storeLook, requests, new DeviceLoads(context, operations), leases, exists, saves, writeBacks, copies, reads, peerReads,
                context.disk(), new PinExpiry(context));
    }

    /** Applies one input. What is due by {@code nowMs} (a monotonic clock) is due before it. */
    public void on(AgentInput input, long nowMs) {
        context.nowMs(nowMs);
        passTime();
        apply(input);
        proceed();
    }

    /**
     * Evicts blocks of a tier because the caller asks for it, as scenarios do; the engine API has no such call. The deepest block goes first. A
     * block that is pinned, or that another block on the tier extends, stays.
     *
     * @param tier HOST or DISK
     * @return the outcome for each key in order: COMPLETED, NOT_SERVING, or PINNED
     */
    public List<OperationReason> evict(Tier tier, String namespace, List<Bytes> keys) {
        List<OperationReason> answers = new Evictions(context, tier, namespace).run(keys);
        proceed();
        return answers;
    }

    /** Whether all of {@code keys} serve on that tier, HOST or DISK. */
    public boolean serves(Tier tier, String namespace, List<Bytes> keys) {
        return keys.stream().allMatch(key -> tier == Tier.HOST
                ? context.pages().serving(namespace, key).isPresent()
                : context.disk().serving(namespace, key).isPresent());
    }

    /** When the caller should send {@link TimePassed} at the latest; {@link Long#MAX_VALUE} when nothing is due. */
    public long nextDeadlineMs() {
        return components.stream().mapToLong(Component::nextDeadlineMs).reduce(heartbeats.nextLookMs(), Math::min);
    }

    /** The state of the agent. */
    public AgentStatus status() {
        return new AgentStatus(
                context.phase(),
                context.incarnation(),
                context.journal().highest(),
                context.usage(),
                context.pages().largestFreeRun(),
                requests.size(),
                requests.waiting(),
                operations.active(),
                context.device().pinCount(),
                new AgentStatus.Bounce(context.bounce().capacity(), context.bounce().free(), context.bounce().quarantined()),
                context.disk().isOpen(),
                new AgentStatus.Leases(leases.open(), peerReads.sending()),
                context.counters().ended(),
                context.counters().snapshot());
    }

    /**
     * Checks every page and pin; for tests and for samples.
     *
     * @throws IllegalStateException when a table contradicts itself
     */
    public void check() {
        context.pages().check();
        context.device().check();
        context.disk().index().check();
        context.bounce().check();
    }

    /** The placements on the disk, for tests. */
    DiskIndex disk() {
        return context.disk().index();
    }

    /** The content and the pins of the device pages, for tests. */
    DevicePins device() {
        return context.device();
    }

    private void apply(AgentInput input) {
        switch (input) {
            case Registered in -> registered(in);
            case Fenced in -> fence();
            case LogLost in -> rejoin();
            case CommandReceived in -> command(in.command());
            case SessionOpened in -> engines.open(in);
            case SessionClosed in -> sessionClosed(in);
            case BuffersRegistered in -> engines.register(in);
            case Submitted in -> requests.submit(in);
            case LoadCalled in -> loads.run(in);
            case ReadCalled in -> reads.run(in);
            case ExistCalled in -> exists.run(in);
            case ReserveCalled in -> reservations.reserve(in);
            case LeaseReleased in -> reservations.release(in);
            case CallGone in -> components.forEach(component -> component.callGone(in));
            case Prefilled in -> engineCalls.prefilled(in);
            case Sealed in -> engineCalls.sealed(in);
            case SaveCalled in -> saves.run(in);
            case Finished in -> engineCalls.finished(in);
            case Cancelled in -> engineCalls.cancelled(in);
            case DeviceEvicted in -> engineCalls.evicted(in);
            case CopiesEnded in -> operations.unitEnded(in.unit(), in.results(), TransferPort.DEVICE);
            case StoreProbed in -> {
                if (!operations.probed(in) && !exists.probed(in) && !storeLook.probed(in)) {
                    requests.probed(in);
                }
            }
            case StoreUnitEnded in -> {
                if (!deletions.unitEnded(in)) {
                    operations.unitEnded(in.unit(), in.results(), TransferPort.STORE);
                }
            }
            case DiskUnitEnded in -> diskUnitEnded(in);
            case PeersFound in -> requests.found(in);
            case PeerUnitEnded in -> operations.unitEnded(in.unit(), in.results(), TransferPort.PEER);
            case PeerReadCalled in -> peerReads.called(in);
            case PeerReadFinished in -> peerReads.readFinished(in);
            case DiskFound in -> context.disk().found(in);
            case SeenInStore in -> context.disk().seen(in);
            case TimePassed in -> {}
            case StopRequested in -> stop();
        }
    }

    /** After each input: write-backs that wait for capacity begin, units go to the ports, the disk works, and a stopping agent that is idle stops. */
    private void proceed() {
        writeBacks.retry();
        operations.pump();
        operations.abandonStuckCopies();
        context.disk().work();
        stopWhenIdle();
        rejoinWhenIdle();
    }

    // --- time

    private void passTime() {
        components.forEach(Component::expire);
        heartbeats.look();
    }

    // --- registration, fencing and stopping

    private void registered(Registered in) {
        if (context.phase() != AgentPhase.UNREGISTERED) {
            return; // a repeat
        }
        context.become(AgentPhase.ON_LOG);
        context.incarnation(in.incarnation());
        context.thresholdBlocks(in.policy().prefetchThresholdBlocks());
        context.journal().startAfter(in.commandSequence());
        engines.reportAllAttached();
        HostReport.append(context); // before the first heartbeat, which counts the pages that serve
        heartbeats.begin(in.sessionMs());
    }

    private void command(Command command) {
        if (!commands.isForUs(command)) {
            return;
        }
        if (command instanceof FenceAgent fence) {
            if (fence.currentIncarnation() == 0) {
                rejoin();
            } else {
                fence();
            }
        } else if (command instanceof DeleteObjects deletion) {
            deletions.run(deletion);
        } else {
            commands.take(command);
        }
    }

    /**
     * The controller has declared this process lost, and no other speaks for the node, or the log misses events of it: it registers again with all
     * that it holds.
     */
    private void rejoin() {
        if (context.phase() != AgentPhase.ON_LOG) {
            return; // a repeat, or it ends anyway
        }
        context.become(AgentPhase.REJOINING);
        context.incarnation(0); // from here on nothing is reported
        heartbeats.end();
        context.counters().increment(AgentCounter.REJOINED);
        drain(Refusal.NOT_ON_THE_LOG, "the agent registers again");
        requests.leaveLog();
        operations.cancelAllButLoads(OperationReason.CANCELLED);
        operations.leaveUnits();
        storeLook.begin();
    }

    /** Loads go on: engines wait for them, and they need no log. */
    private void rejoinWhenIdle() {
        if (context.phase() == AgentPhase.REJOINING && operations.onlyLoads() && storeLook.ended()) {
            context.disk().leaveLog();
            context.become(AgentPhase.UNREGISTERED);
        }
    }

    private void fence() {
        if (context.phase() == AgentPhase.ON_LOG) {
            context.become(AgentPhase.FENCED);
            drain(Refusal.CLOSING, "the agent stops");
        }
    }

    private void stop() {
        if (context.takesWork()) {
            context.become(AgentPhase.STOPPING);
            drain(Refusal.CLOSING, "the agent stops");
        }
    }

    /** No command of this incarnation comes any more, so nothing waits for one. */
    private void drain(Refusal refusal, String why) {
        requests.expireAll();
        writeBacks.refuseAll(OperationReason.NO_ROOM, why);
        requests.releaseAllFinished();
        saves.refuseAll(refusal, why);
        peerReads.closeAll();
    }

    private void stopWhenIdle() {
        boolean draining = context.phase() == AgentPhase.STOPPING || context.phase() == AgentPhase.FENCED;
        if (!draining || operations.active() > 0 || peerReads.sending() > 0) {
            return;
        }
        if (context.phase() == AgentPhase.STOPPING) {
            context.append("", e -> new AgentStopping(e, e.sender().substring(e.sender().lastIndexOf('/') + 1)));
        }
        context.become(AgentPhase.STOPPED);
        heartbeats.end();
    }

    private void diskUnitEnded(DiskUnitEnded in) {
        if (!context.disk().unitEnded(in.unit(), in.results())) {
            operations.unitEnded(in.unit(), in.results(), TransferPort.DISK);
        }
    }

    private void sessionClosed(SessionClosed in) {
        if (engines.hasPool(in.session())) {
            context.device().close();
            context.ports().device().detach();
        }
        components.forEach(component -> component.sessionGone(in.session()));
        engines.close(in);
    }
}
