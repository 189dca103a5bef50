/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.agent.core.port.EngineReplies;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.ops.simulation.engine.AgentLink.Attempt;
import io.tierlog.ops.simulation.engine.Heard;
import io.tierlog.schemas.OperationReason;
import java.util.List;
import java.util.function.Consumer;

/** Carries what the agent says to the engine, in the engine's own words. For one thread. */
final class SimReplies implements EngineReplies {
    private final Consumer<Heard> engine;

    SimReplies(Consumer<Heard> engine) {
        this.engine = engine;
    }

    @Override
    public void offer(long call, Offer offer) {
        engine.accept(new Heard.Offered(call, heard(offer)));
    }

    @Override
    public void waiting(long call) {
        engine.accept(new Heard.Waiting(call));
    }

    @Override
    public void ready(String session, String request, int attempt, Offer offer) {
        engine.accept(new Heard.Ready(new Attempt(session, request, attempt), heard(offer)));
    }

    private static Heard.Offer heard(Offer offer) {
        List<String> sources = offer.sources().stream().map(Enum::name).toList();
        return new Heard.Offer(offer.firstIndex(), sources, offer.reason().name(), offer.lease());
    }

    @Override
    public void released(String session, String request, int attempt, List<Integer> pages) {
        engine.accept(new Heard.Released(new Attempt(session, request, attempt), List.copyOf(pages)));
    }

    @Override
    public void loaded(long call, int loaded, String reason) {
        engine.accept(new Heard.Loaded(call, loaded, reason));
    }

    @Override
    public void found(long call, List<Whereabouts> blocks) {
        engine.accept(new Heard.Found(call, blocks.stream()
                .map(where -> (where.host() ? "H" : "-") + (where.disk() ? "D" : "-") + where.store())
                .toList()));
    }

    @Override
    public void reserved(long call, String lease, long leaseMs) {
        engine.accept(new Heard.Reserved(call, lease));
    }

    @Override
    public void missing(long call, int position) {
        engine.accept(new Heard.Refused(call, "MISSING", "block " + position));
    }

    @Override
    public void read(long call, List<BlockAnswer> blocks) {
        engine.accept(new Heard.Read(call, reasons(blocks)));
    }

    @Override
    public void saved(long call, List<BlockAnswer> blocks) {
        engine.accept(new Heard.Saved(call, reasons(blocks)));
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
        engine.accept(new Heard.Done(call));
    }

    @Override
    public void refused(long call, Refusal refusal, String detail, boolean retry) {
        engine.accept(new Heard.Refused(call, refusal.name(), detail));
    }
}
