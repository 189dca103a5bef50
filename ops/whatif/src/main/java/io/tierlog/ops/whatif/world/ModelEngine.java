/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.port.EngineReplies;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.ops.engine.device.BlockTable;
import io.tierlog.ops.engine.device.EvictedPage;
import io.tierlog.ops.engine.device.PageTable;
import io.tierlog.ops.engine.workload.BlockKey;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** The engine of one node: its device pages, by the book of the demo's engines, and its calls to the agent. For one thread. */
final class ModelEngine implements EngineReplies {
    private static final int MAX_TRIES = 6;
    private static final int MAX_EVICTED = 1_000;
    private static final long FIRST_PAUSE_MICROS = 10_000;

    private final Setting setting;
    private final String session;
    private final PageTable pages;
    private final Deque<ModelRequest> waiting = new ArrayDeque<>();
    private final Map<String, List<Integer>> holds = new HashMap<>();
    private final Map<String, ModelRequest> running = new HashMap<>();
    private final Map<Long, Call> calls = new HashMap<>();
    /** What follows the offer to a request that was submitted. */
    private final Map<String, Consumer<Answer>> submits = new HashMap<>();
    private final @Nullable Channel prefills;
    private final ModelAgent agent;
    private long lastCall;
    /** Arrival of the last call at the agent, and of its last answer here: later ones do not overtake them. */
    private long lastCallMicros;
    private long lastAnswerMicros;

    /**
     * What engines share.
     *
     * @param namespaces of the tenants, by index
     */
    record Setting(ModelAgent.Surroundings around, ResultCounts counts, List<String> namespaces) {
        VirtualTime time() {
            return around.time();
        }

        HardwareModel.Engine model() {
            return around.plan().model().engine();
        }
    }

    /** What follows a call. */
    private record Call(LongFunction<AgentInput> input, Consumer<Answer> answered, int tries) {}

    /** The answer to a call. */
    sealed interface Answer {
        /** To a submission, at once or later. */
        record Offered(Offer offer) implements Answer {}

        /** To a load: so many blocks have arrived. */
        record Loaded(int blocks) implements Answer {}

        /** To any other call. */
        record Done() implements Answer {}

        /** A refusal. */
        record Refused() implements Answer {}
    }

    ModelEngine(Setting setting, String node) {
        this.setting = setting;
        this.session = "engine-" + node;
        WhatIfPlan.Sizes sizes = setting.around.plan().sizes();
        this.pages = new PageTable(sizes.devicePages(), sizes.retention());
        this.prefills = setting.model().prefills() == 0
                ? null
                : new Channel(setting.time(), new HardwareModel.Link(0, 1, setting.model().prefills(), 1));
        this.agent = new ModelAgent(setting.around, node, this);
    }

    ModelAgent agent() {
        return agent;
    }

    Setting setting() {
        return setting;
    }

    PageTable pages() {
        return pages;
    }

    String session() {
        return session;
    }

    void attach() {
        WhatIfPlan.Sizes sizes = setting.around.plan().sizes();
        call(call -> new AgentInput.SessionOpened(call, session, session), opened -> call(
                call -> new AgentInput.BuffersRegistered(call, session, sizes.devicePages(), sizes.blockBytes(), ModelAgent.DIGEST, Map.of()),
                registered -> {
                    if (opened instanceof Answer.Refused || registered instanceof Answer.Refused) {
                        throw new IllegalStateException("the agent of " + session + " has not taken its engine");
                    }
                }));
    }

    /** Adds a request to the queue for pages. */
    void admit(ModelRequest request) {
        waiting.add(request);
        givePages();
    }

    private void givePages() {
        while (!waiting.isEmpty()) {
            BlockTable blocks = pages.acquire(waiting.element().demand());
            if (blocks == null) {
                return;
            }
            ModelRequest next = waiting.remove();
            running.put(next.name(), next);
            next.begin(blocks);
        }
    }

    /** The request has ended and releases its pages. */
    void ended(ModelRequest request, BlockTable blocks) {
        running.remove(request.name());
        pages.release(blocks);
        reportEvicted();
        givePages();
    }

    /** Computes a prompt for so long, after those that are before it, and goes on. */
    void prefill(long micros, Runnable next) {
        if (prefills == null) {
            next.run();
        } else {
            prefills.work(micros, next);
        }
    }

    /** The agent may keep these pages from now on. */
    void hold(String attempt, List<Integer> held) {
        if (!held.isEmpty()) {
            holds.put(attempt, new ArrayList<>(held));
            held.forEach(page -> pages.hold(page, attempt));
        }
    }

    /** The agent has released pages. */
    void releasePages(String attempt, List<Integer> released) {
        List<Integer> held = holds.get(attempt);
        if (held == null) {
            return;
        }
        for (Integer page : released) {
            if (held.remove(page)) {
                pages.unhold(page, attempt);
            }
        }
        if (held.isEmpty()) {
            holds.remove(attempt);
        }
        reportEvicted();
        givePages();
    }

    /** Reports to the agent what has left the device. */
    void reportEvicted() {
        Map<Integer, List<AgentInput.EvictedBlock>> byTenant = new LinkedHashMap<>();
        for (EvictedPage page : pages.takeEvicted()) {
            byTenant.computeIfAbsent(page.block().tenant(), _ -> new ArrayList<>()).add(new AgentInput.EvictedBlock(
                    page.index(), bytes(page.block().key()), page.parent().map(ModelEngine::bytes).orElse(Bytes.EMPTY), page.page(),
                    page.generation()));
        }
        byTenant.forEach((tenant, blocks) -> {
            for (int from = 0; from < blocks.size(); from += MAX_EVICTED) {
                List<AgentInput.EvictedBlock> part = List.copyOf(blocks.subList(from, Math.min(blocks.size(), from + MAX_EVICTED)));
                call(call -> new AgentInput.DeviceEvicted(call, session, setting.namespaces.get(tenant), part), _ -> {});
            }
        });
    }

    static Bytes bytes(BlockKey key) {
        return Bytes.wrapUnshared(key.toBytes());
    }

    // --- calls to the agent

    /** Calls the agent, again when it refuses for now; the answer comes later. */
    void call(LongFunction<AgentInput> input, Consumer<Answer> answered) {
        call(new Call(input, answered, 1));
    }

    /** Submits a request; the answer is the offer, waited for or not. */
    void submit(ModelRequest request, LongFunction<AgentInput> input, Consumer<Answer> answered) {
        submits.put(request.name(), answered);
        call(input, answer -> {
            submits.remove(request.name());
            answered.accept(answer);
        });
    }

    private void call(Call call) {
        long number = ++lastCall;
        calls.put(number, call);
        lastCallMicros = Math.max(lastCallMicros, halfCallEndsMicros());
        setting.time().at(lastCallMicros, () -> agent.on(call.input.apply(number)));
    }

    private void answer(long number, Answer answer) {
        Call call = calls.remove(number);
        if (call != null) {
            later(() -> call.answered.accept(answer));
        }
    }

    private void later(Runnable what) {
        lastAnswerMicros = Math.max(lastAnswerMicros, halfCallEndsMicros());
        setting.time().at(lastAnswerMicros, what);
    }

    private long halfCallEndsMicros() {
        VirtualTime time = setting.time();
        return time.nowMicros() + setting.model().callMicros(time.runMs()) / 2;
    }

    @Override
    public void offer(long call, Offer offer) {
        answer(call, new Answer.Offered(offer));
    }

    @Override
    public void waiting(long call) {
        calls.remove(call); // the notice answers it
    }

    @Override
    public void ready(String ofSession, String request, int attempt, Offer offer) {
        Consumer<Answer> submitted = submits.remove(request);
        if (submitted != null) {
            later(() -> submitted.accept(new Answer.Offered(offer)));
        }
    }

    @Override
    public void released(String ofSession, String request, int attempt, List<Integer> released) {
        List<Integer> copy = List.copyOf(released);
        later(() -> releasePages(request + ModelRequest.HELD, copy));
    }

    @Override
    public void loaded(long call, int blocks, String reason) {
        answer(call, new Answer.Loaded(blocks));
    }

    @Override
    public void done(long call) {
        answer(call, new Answer.Done());
    }

    @Override
    public void refused(long call, Refusal refusal, String detail, boolean retry) {
        setting.counts.refused();
        Call refused = calls.remove(call);
        if (refused == null) {
            return;
        }
        if (retry && refused.tries < MAX_TRIES) {
            setting.time().after(FIRST_PAUSE_MICROS << (refused.tries - 1),
                    () -> call(new Call(refused.input, refused.answered, refused.tries + 1)));
        } else {
            later(() -> refused.answered.accept(new Answer.Refused()));
        }
    }

    @Override
    public void failed(String ofSession, String request, int attempt, List<Integer> failed, OperationReason reason) {
        // Such pages are kept until they are released, whatever became of them.
    }

    @Override
    public void found(long call, List<Whereabouts> blocks) {
        throw never();
    }

    @Override
    public void reserved(long call, String lease, long leaseMs) {
        throw never();
    }

    @Override
    public void missing(long call, int position) {
        throw never();
    }

    @Override
    public void read(long call, List<BlockAnswer> blocks) {
        throw never();
    }

    @Override
    public void saved(long call, List<BlockAnswer> blocks) {
        throw never();
    }

    private static IllegalStateException never() {
        return new IllegalStateException("the answer to a call that this engine never makes");
    }
}
