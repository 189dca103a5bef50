/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.DeviceBlock;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.ops.engine.Hits;
import io.tierlog.ops.engine.device.BlockTable;
import io.tierlog.ops.engine.device.PageTable;
import io.tierlog.ops.engine.workload.BlockKey;
import io.tierlog.ops.engine.workload.Request;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * One request on one engine, with the steps of the demo's:
 *
 * <pre>
 *   queue for pages - match the device cache - Submit - offer, or wait for Ready - match again - Load - compute the rest
 *     - publish, Prefilled, Sealed - decode - Sealed - Finish - free the pages
 * </pre>
 */
final class ModelRequest {
    /** Ends the name under which the agent keeps pages of a request. */
    static final String HELD = "/agent";

    private static final int MAX_RUN = 1_000;

    private final ModelEngine engine;
    private final Request request;
    private final Runnable ended;
    private final VirtualTime time;
    private final PageTable pages;
    private final AgentInput.Attempt attempt;
    private final String namespace;
    private final List<Bytes> keys;
    /** Where the loaded blocks were, from the first one on; the ones before it are on the device, those after it are computed. */
    private List<Tier> loaded = List.of();
    private @Nullable BlockTable blocks;
    private boolean tracked;
    private long waitedMicros;
    /** Pages that the agent may read after the end, by index of the block. */
    private final SequencedMap<Integer, Integer> keptPages = new LinkedHashMap<>();

    /** A request; {@code ended} runs once at its end. */
    ModelRequest(ModelEngine engine, Request request, Runnable ended) {
        this.engine = engine;
        this.request = request;
        this.ended = ended;
        this.time = engine.setting().time();
        this.pages = engine.pages();
        this.attempt = new AgentInput.Attempt(engine.session(), "r-" + request.index(), 1);
        this.namespace = engine.setting().namespaces().get(request.tenant());
        this.keys = request.wholeKeys().stream().map(ModelEngine::bytes).toList();
    }

    String name() {
        return attempt.request();
    }

    BlockTable.Demand demand() {
        return new BlockTable.Demand(
                name(), request.tenant(), request.wholeKeys(), request.reusable(), request.shape().pages());
    }

    private BlockTable blocks() {
        BlockTable has = blocks;
        if (has == null) {
            throw new IllegalStateException(name() + " has no pages");
        }
        return has;
    }

    /** The request has its pages. */
    void begin(BlockTable given) {
        blocks = given;
        engine.reportEvicted();
        long beganMicros = time.nowMicros();
        List<DeviceBlock> onDevice = placed(0, given.matched());
        onDevice.forEach(block -> keptPages.put(block.index(), block.page()));
        engine.submit(this, call -> new AgentInput.Submitted(
                call, attempt, namespace, keys, request.shape().inputTokens(), request.shape().blockTokens(), onDevice.size(), onDevice, true,
                request.reuseEligible(), engine.setting().model().prefillNanosPerToken(), null), answer -> {
            waitedMicros = time.nowMicros() - beganMicros;
            tracked = answer instanceof ModelEngine.Answer.Offered;
            load(answer instanceof ModelEngine.Answer.Offered(Offer offer) ? offer : null);
        });
    }

    private List<DeviceBlock> placed(int from, int to) {
        List<DeviceBlock> placed = new ArrayList<>(to - from);
        for (int i = from; i < to; i++) {
            placed.add(new DeviceBlock(i, ModelEngine.bytes(request.promptKeys().get(i)), blocks().page(i), blocks().generation(i)));
        }
        return placed;
    }

    private void load(@Nullable Offer offer) {
        pages.rematch(blocks());
        int first = blocks().matched();
        int end = offer == null ? 0 : Math.min(offer.firstIndex() + offer.sources().size(), request.reusable());
        if (offer == null || offer.firstIndex() > first || end <= first) {
            compute();
            return;
        }
        long beganMicros = time.nowMicros();
        engine.call(call -> new AgentInput.LoadCalled(call, attempt, namespace, offer.lease(), placed(first, end)), answer -> {
            waitedMicros += time.nowMicros() - beganMicros;
            int arrived = answer instanceof ModelEngine.Answer.Loaded(int count) ? Math.min(count, end - first) : 0;
            loaded = offer.sources().subList(first - offer.firstIndex(), first - offer.firstIndex() + arrived);
            for (int i = first; i < first + arrived; i++) {
                pages.tell(blocks().page(i));
                keptPages.put(i, blocks().page(i));
            }
            compute();
        });
    }

    private void compute() {
        int reused = blocks().matched() + loaded.size();
        long tokens = request.shape().inputTokens() - (long) reused * request.shape().blockTokens();
        long micros = tokens * engine.setting().model().prefillNanosPerToken() / 1_000;
        long beganMicros = time.nowMicros();
        engine.prefill(micros, () -> {
            long queuedMicros = Math.max(micros, time.nowMicros() - beganMicros);
            engine.setting().counts().served(request, hits(), waitedMicros + queuedMicros);
            prefilled(reused);
        });
    }

    private Hits hits() {
        return new Hits(blocks().matched(), loadedFrom(Tier.HOST), loadedFrom(Tier.DISK), loadedFrom(Tier.STORE));
    }

    private long loadedFrom(Tier tier) {
        return loaded.stream().filter(one -> one == tier).count();
    }

    private void prefilled(int reused) {
        int onDevice = blocks().matched();
        pages.publish(blocks(), request.wholeKeys());
        tell(call -> new AgentInput.Prefilled(call, attempt, onDevice, loaded.size(), request.accesses() - reused), () -> {
            engine.reportEvicted();
            sealed(request.wholeKeys(), () -> time.after(
                    request.shape().outputTokens() * engine.setting().model().decodeNanosPerToken() / 1_000, this::decoded));
        });
    }

    private void decoded() {
        List<BlockKey> all = new ArrayList<>(request.wholeKeys());
        all.addAll(request.generatedKeys());
        pages.publish(blocks(), all);
        sealed(all, this::finish);
    }

    /** Reports the published blocks that the agent does not know yet, run by run. */
    private void sealed(List<BlockKey> published, Runnable next) {
        List<DeviceBlock> untold = new ArrayList<>();
        for (int i = 0; tracked && i < published.size(); i++) {
            if (!pages.isKnown(blocks().page(i))) {
                pages.tell(blocks().page(i));
                untold.add(new DeviceBlock(i, ModelEngine.bytes(published.get(i)), blocks().page(i), blocks().generation(i)));
            }
        }
        seal(published, untold, next);
    }

    private void seal(List<BlockKey> published, List<DeviceBlock> untold, Runnable next) {
        if (untold.isEmpty()) {
            next.run();
            return;
        }
        int to = 1;
        while (to < untold.size() && to < MAX_RUN && untold.get(to).index() == untold.get(to - 1).index() + 1) {
            to++;
        }
        List<DeviceBlock> run = List.copyOf(untold.subList(0, to));
        List<DeviceBlock> rest = untold.subList(to, untold.size());
        int first = run.getFirst().index();
        Bytes parent = first == 0 ? Bytes.EMPTY : ModelEngine.bytes(published.get(first - 1));
        engine.call(call -> new AgentInput.Sealed(call, attempt, namespace, ModelEngine.bytes(published.getFirst()), parent, run), answer -> {
            if (answer instanceof ModelEngine.Answer.Done) {
                run.forEach(block -> keptPages.put(block.index(), block.page()));
            }
            seal(published, rest, next);
        });
    }

    private void finish() {
        if (!tracked) {
            end();
            return;
        }
        // A page whose block has moved to another one since is not in use any more: the agent has its eviction.
        List<Integer> kept = keptPages.entrySet().stream()
                .filter(page -> blocks().page(page.getKey()) == page.getValue())
                .map(Map.Entry::getValue)
                .toList();
        engine.hold(name() + HELD, kept);
        engine.call(call -> new AgentInput.Finished(call, attempt, RequestReason.COMPLETED, request.shape().outputTokens()), answer -> {
            if (answer instanceof ModelEngine.Answer.Refused) {
                engine.releasePages(name() + HELD, kept);
            }
            end();
        });
    }

    private void end() {
        engine.ended(this, blocks());
        ended.run();
    }

    private void tell(LongFunction<AgentInput> input, Runnable next) {
        if (tracked) {
            engine.call(input, _ -> next.run());
        } else {
            next.run();
        }
    }
}
