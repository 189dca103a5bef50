/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import io.tierlog.agent.core.AgentCore;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.api.AgentPhase;
import io.tierlog.agent.core.port.EngineReplies;
import io.tierlog.agent.core.port.EventSink;
import io.tierlog.agent.core.port.Ports;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** The shipped core of the agent of one node, woken when something is due. For one thread. */
final class ModelAgent {
    /** Of the one layout; nothing is read by it. */
    static final Bytes DIGEST = Bytes.ofHex("5a".repeat(32));

    private final VirtualTime time;
    private final ModelController controller;
    private final String node;
    private final WhatIfPlan.Sizes sizes;
    private final int blockTokens;
    private final ModelPorts ports;
    private final AgentCore core;
    private final Sink sink = new Sink();
    private long wakesAtMs = Long.MAX_VALUE;

    ModelAgent(Surroundings around, String node, EngineReplies engine) {
        this.time = around.time;
        this.controller = around.controller;
        this.node = node;
        this.sizes = around.plan.sizes();
        this.blockTokens = around.blockTokens;
        this.ports = new ModelPorts(time, around.plan.model(), sizes.blockBytes(), around.store, this::on);
        this.core = new AgentCore(
                AgentLimits.defaults().withPrefetchWaitMs(around.plan.prefetchWaitMs()),
                new AgentInput.Registration(node, List.of(layout()), DIGEST, sizes.blockBytes(), sizes.hostBlocks(), sizes.diskBlocks()),
                new Ports(ports, ports, ports.disk(), engine, sink));
        controller.agent(aggregate(), command -> on(new AgentInput.CommandReceived(command)));
        controller.reader(this::decided);
    }

    /** What the agents of a run share. */
    record Surroundings(VirtualTime time, ModelController controller, WhatIfPlan plan, int blockTokens, Set<ModelPorts.BlockName> store) {}

    void register() {
        List<TierCapacity> tiers = new ArrayList<>();
        tiers.add(new TierCapacity(Tier.HOST, sizes.hostBlocks(), sizes.blockBytes()));
        if (sizes.diskBlocks() > 0) {
            tiers.add(new TierCapacity(Tier.DISK, sizes.diskBlocks(), sizes.blockBytes()));
        }
        sink.append(aggregate(), "", e -> new AgentRegistering(
                e, node, node + "-1", "1", tiers, List.of(layout()), DIGEST, 1, 1, Map.of(), DIGEST, null, null, false));
        if (sizes.diskBlocks() > 0) {
            on(new AgentInput.DiskFound(List.of(), true));
        }
    }

    private Layout layout() {
        return new Layout("kv", LayoutKind.ATTENTION, 1, blockTokens, sizes.blockBytes(), 1, "u8", false);
    }

    private String aggregate() {
        return "node/" + node;
    }

    private void decided(Fact fact) {
        if (fact instanceof AgentAccepted accepted && accepted.node().equals(node)) {
            sink.incarnation = accepted.newIncarnation();
            on(new AgentInput.Registered(accepted.newIncarnation(), accepted.commandSequence(), accepted.policy(), accepted.sessionMs()));
        }
    }

    boolean isOnTheLog() {
        return core.status().phase() == AgentPhase.ON_LOG;
    }

    WhatIfResult.Moved moved() {
        return ports.moved();
    }

    void on(AgentInput input) {
        core.on(input, time.nowMs());
        long nextMs = core.nextDeadlineMs();
        if (nextMs < wakesAtMs) {
            wakesAtMs = nextMs;
            time.at(nextMs * VirtualTime.MICROS_IN_MS, () -> wake(nextMs));
        }
    }

    private void wake(long plannedMs) {
        if (plannedMs == wakesAtMs) { // or an earlier time was planned since
            wakesAtMs = Long.MAX_VALUE;
            on(new AgentInput.TimePassed());
        }
    }

    /** Numbers events; the controller does not check their checksums. */
    private final class Sink implements EventSink {
        private final Map<String, Long> sequences = new HashMap<>();
        private long incarnation;

        @Override
        public void append(String aggregate, String cause, Function<Envelope, Event> withEnvelope) {
            long sequence = sequences.merge(aggregate, 1L, Long::sum);
            controller.send(withEnvelope.apply(new Envelope(
                    aggregate, "agent/" + node + "/" + node + "-1", incarnation, sequence, 0, ModelController.START_MS + time.nowMs(),
                    cause.isEmpty() ? null : cause, null, null)));
        }

        @Override
        public boolean congested() {
            return false;
        }
    }
}
