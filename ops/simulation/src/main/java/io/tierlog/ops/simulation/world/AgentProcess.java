/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.agent.core.AgentCore;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.api.AgentStatus;
import io.tierlog.ops.simulation.hardware.Machine;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One agent process from its start to its death: the shipped core, its machine, its producer, and where it stands in the log. After a lost log it has
 * another process id. For one thread.
 */
public final class AgentProcess {
    /** Adding up what a status says costs more than a step: the tables are looked at after each, the sums now and then. */
    private static final int SUM_EVERY = 8;

    String processId;
    final AgentCore core;
    final Machine machine;
    final SimSink sink;
    /** The process id that was accepted last, its own or that of the process before; null when none is known. */
    @Nullable String spokenFor;
    /** Commands of the node's partition that it has read. */
    int nextCommand;
    /** Decisions that it has looked through for the answer to its registration. */
    int nextDecision;
    /** When it registers again; Long.MAX_VALUE while it waits for an answer, or has one. */
    long asksAtMs;
    /** Whether its last registration was accepted. */
    boolean accepted;
    /** Whether the core has received that the log is lost, so that the next registration is under another process id. */
    boolean lostLog;
    /** Set when the controller has refused it for good. */
    boolean refused;
    /** Completions of units, to come late or once more. */
    final List<AgentInput> completions = new ArrayList<>();
    boolean lookedUp;
    private @Nullable AgentStatus known;
    private long checks;

    AgentProcess(String processId, AgentCore core, Machine machine, SimSink sink, @Nullable String spokenFor) {
        this.spokenFor = spokenFor;
        this.processId = processId;
        this.core = core;
        this.machine = machine;
        this.sink = sink;
    }

    /** Name of the process. */
    public String processId() {
        return processId;
    }

    /** The machine under it. */
    public Machine machine() {
        return machine;
    }

    /** The status of the agent. */
    public AgentStatus status() {
        AgentStatus is = known;
        if (is == null) {
            is = core.status();
            known = is;
        }
        return is;
    }

    /** True when all these blocks serve on the host. */
    public boolean serves(String namespace, List<Bytes> keys) {
        return core.serves(Tier.HOST, namespace, keys);
    }

    /** Evicts blocks of a tier; the outcome of each. */
    public List<OperationReason> evict(Tier tier, String namespace, List<Bytes> keys) {
        known = null;
        return core.evict(tier, namespace, keys);
    }

    /** True when the process has nothing more to do and ends. */
    public boolean isOver() {
        return status().phase() == AgentPhase.STOPPED || refused;
    }

    /** True when its epoch has ended, or its question may be lost, and it speaks for the node in none. */
    boolean registersAgain() {
        return (accepted || lostLog) && status().phase() == AgentPhase.UNREGISTERED;
    }

    void on(AgentInput input, long nowMs) {
        machine.nextStep();
        core.on(input, nowMs);
        known = null;
    }

    /**
     * I4: all pages of every tier are in exactly one state.
     *
     * @throws IllegalStateException when they are not
     */
    public void check() {
        core.check();
        if (checks++ % SUM_EVERY != 0) {
            return;
        }
        for (TierUsage use : status().usage()) {
            long sum = use.freeBlocks() + use.reservedBlocks() + use.fillingBlocks() + use.servingBlocks() + use.leavingBlocks()
                    + use.quarantinedBlocks();
            if (sum != use.capacityBlocks()) {
                throw new IllegalStateException("I4: " + sum + " pages of " + use.capacityBlocks() + " are accounted for: " + use);
            }
        }
    }
}
