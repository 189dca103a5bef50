/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.agent.core.port.EngineReplies;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.ops.simulation.engine.AgentLink.Attempt;
import io.tierlog.ops.simulation.engine.AgentReply;
import io.tierlog.schemas.OperationReason;
import java.util.List;
import java.util.function.Consumer;

/** Carries what the agent says to the engine, in the engine's own words. For one thread. */
final class SimReplies implements EngineReplies {
    private final Consumer<AgentReply> engine;

    SimReplies(Consumer<AgentReply> engine) {
        this.engine = engine;
    }

    @Override
    public void offer(long call, Offer offer) {
        engine.accept(new AgentReply.Offered(call, reply(offer)));
    }

    @Override
    public void waiting(long call) {
        engine.accept(new AgentReply.Waiting(call));
    }

    @Override
    public void ready(String session, String request, int attempt, Offer offer) {
        engine.accept(new AgentReply.Ready(new Attempt(session, request, attempt), reply(offer)));
    }

    private static AgentReply.Offer reply(Offer offer) {
        List<String> sources = offer.sources().stream().map(Enum::name).toList();
        return new AgentReply.Offer(offer.firstIndex(), sources, offer.reason().name(), offer.lease());
    }

    @Override
    public void released(String session, String request, int attempt, List<Integer> pages) {
        engine.accept(new AgentReply.Released(new Attempt(session, request, attempt), List.copyOf(pages)));
    }

    @Override
    public void loaded(long call, int loaded, String reason) {
        engine.accept(new AgentReply.Loaded(call, loaded, reason));
    }

    @Override
    public void found(long call, List<Whereabouts> blocks) {
        engine.accept(new AgentReply.Found(call, blocks.stream()
                .map(where -> (where.host() ? "H" : "-") + (where.disk() ? "D" : "-") + where.store())
                .toList()));
    }

    @Override
    public void reserved(long call, String lease, long leaseMs) {
        engine.accept(new AgentReply.Reserved(call, lease));
    }

    @Override
    public void missing(long call, int position) {
        engine.accept(new AgentReply.Refused(call, "MISSING", "block " + position));
    }

    @Override
    public void read(long call, List<BlockAnswer> blocks) {
        engine.accept(new AgentReply.Read(call, reasons(blocks)));
    }

    @Override
    public void saved(long call, List<BlockAnswer> blocks) {
        engine.accept(new AgentReply.Saved(call, reasons(blocks)));
    }

    private static List<String> reasons(List<BlockAnswer> blocks) {
        return blocks.stream().map(block -> block.reason().name()).toList();
    }

    @Override
    public void failed(String session, String request, int attempt, List<Integer> pages, OperationReason reason) {
        // The engine keeps such pages until they are released, whatever became of them.
    }

    @Override
    public void done(long call) {
        engine.accept(new AgentReply.Done(call));
    }

    @Override
    public void refused(long call, Refusal refusal, String detail, boolean retry) {
        engine.accept(new AgentReply.Refused(call, refusal.name(), detail));
    }
}
