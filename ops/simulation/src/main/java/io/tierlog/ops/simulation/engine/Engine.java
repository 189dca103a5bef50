/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.engine;

import io.tierlog.ops.simulation.engine.AgentLink.Attempt;
import io.tierlog.ops.simulation.engine.AgentLink.PageBlock;
import io.tierlog.schemas.Bytes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The engine of one node: it accepts requests, asks the agent what it may load, loads, waits for device pages, computes the rest, seals, and frees
 * pages when the agent has released them. It never blocks: replies wait in an inbox until {@link #step}.
 * It writes to a page as soon as it may, so that a copy that is still under way shows. For one thread.
 */
public final class Engine {
    /**
     * Configuration of an engine.
     *
     * @param devicePages pages that requests may use, 1 or more
     * @param sparePages further pages of the pool that requests never use
     * @param retention whether ended requests leave their blocks for later ones
     * @param maxContext most tokens of prompt and answer together
     * @param kvBudgetBlocks most device pages of one request
     * @param blockTokens tokens of a block
     * @param adapters names of the available adapters
     * @param prefillNsPerToken what it says computing a token of a prompt costs, in nanoseconds; 0 when it does not say so
     */
    public record Config(int devicePages, int sparePages, boolean retention, int maxContext, int kvBudgetBlocks, int blockTokens,
            List<String> adapters, long prefillNsPerToken) {
        public Config {
            adapters = List.copyOf(adapters);
        }
    }

    /** A request of a caller. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared; the tokens do not change.
    public record Request(String id, String namespace, String adapter, int[] tokens, int maxNew, boolean reuseEligible) {}

    /** The state of a request. */
    public record View(String state, int prefixTokens, int computedTokens, int attempt, String reason, int pages) {}

    /** A connection that is not tried again before {@link #retry}. */
    private static final long LATER = Long.MAX_VALUE;

    private final Config config;
    private final DevicePool.Contents contents;
    private final AgentLink link;
    private final SequencedMap<String, Run> runs = new LinkedHashMap<>();
    private final SequencedMap<String, Run> going = new LinkedHashMap<>();
    private final Deque<Run> queue = new ArrayDeque<>();
    private final Deque<AgentReply> inbox = new ArrayDeque<>();
    private final Map<Long, Consumer<AgentReply>> calls = new LinkedHashMap<>();
    private final Map<String, String> outcomes = new LinkedHashMap<>();
    private final Outside outside = new Outside(this);
    private DevicePages memory;
    private DevicePool pool;
    private String session = "";
    private boolean registered;
    private long connecting;
    private int sessions;
    private int refusals;

    public Engine(Config config, Oracle oracle, Tally tally, AgentLink link) {
        this.config = config;
        this.contents = new DevicePool.Contents(oracle, tally);
        this.link = link;
        this.memory = new DevicePages(config.devicePages + config.sparePages, contents.oracle().blockBytes());
        this.pool = new DevicePool(memory, contents, config.devicePages, config.retention);
    }

    // --- looking

    /** The present device memory. */
    public DevicePages memory() {
        return memory;
    }

    /** Name of the open session; empty when there is none. */
    public String session() {
        return session;
    }

    /** True when the agent has accepted the device pool. */
    public boolean connected() {
        return registered;
    }

    /** Free device pages. */
    public int freePages() {
        return pool.free();
    }

    /** Device pages that the agent may still touch for attempts that have ended. */
    public int heldPages() {
        return pool.held();
    }

    /** Reservations that are open. */
    public int reservations() {
        return outside.reservations();
    }

    /** Requests that have not ended, in the order in which they came. */
    public List<String> live() {
        going.values().removeIf(run -> run.state.isEnd());
        return List.copyOf(going.keySet());
    }

    /** The state of a request; null when there is no such request. */
    public @Nullable View view(String request) {
        Run run = runs.get(request);
        if (run == null) {
            return null;
        }
        boolean decided = run.state == Run.State.PREFILLING || run.state == Run.State.DECODING || run.state == Run.State.FINISHED;
        int prefix = run.prefix() * config.blockTokens;
        return new View(run.state.name(), prefix, decided ? run.promptTokens - prefix : 0, run.attempt.number(), run.reason,
                run.pages.size());
    }

    /** The outcomes of named calls. */
    public Map<String, String> outcomes() {
        return outcomes;
    }

    /** Calls that the agent refused as bad arguments. */
    public int refusals() {
        return refusals;
    }

    // --- connection

    /** Forgets everything, like a killed process; the caller reports it to the agent. */
    public void vanish() {
        memory.abandon();
        for (Run run : runs.values()) {
            if (!run.state.isEnd()) {
                run.state = Run.State.CANCELLED;
                run.reason = "ENGINE_GONE";
            }
        }
        queue.clear();
        inbox.clear();
        calls.clear();
        outside.forget();
        memory = new DevicePages(config.devicePages + config.sparePages, contents.oracle().blockBytes());
        pool = new DevicePool(memory, contents, config.devicePages, config.retention);
        session = "";
        registered = false;
        connecting = 0;
    }

    /** The agent has sent a reply. */
    public void receive(AgentReply reply) {
        inbox.add(reply);
    }

    /** One step: one reply, a connection, or one request that gets its pages. False when there is nothing to do. */
    public boolean step() {
        AgentReply reply = inbox.poll();
        if (reply != null) {
            apply(reply);
        } else if (!connect() && !admit()) {
            return false;
        }
        tellEvicted();
        pool.check();
        return true;
    }

    private boolean connect() {
        if (registered || connecting > 0 || !link.isUp()) {
            return false;
        }
        if (session.isEmpty()) {
            session = "s" + ++sessions;
            connecting = call(link.open(session), this::opened);
        } else {
            connecting = call(link.register(session, memory.size()), this::registered);
        }
        return true;
    }

    private void opened(AgentReply answer) {
        boolean refused = answer instanceof AgentReply.Refused;
        connecting = refused ? LATER : 0;
        session = refused ? "" : session;
    }

    private void registered(AgentReply answer) {
        registered = answer instanceof AgentReply.Done;
        connecting = registered ? 0 : LATER;
    }

    /** Time has passed: a refused connection is tried again. */
    public void retry() {
        if (connecting == LATER) {
            connecting = 0;
        }
    }

    long call(long number, Consumer<AgentReply> consumer) {
        calls.put(number, consumer);
        return number;
    }

    private void apply(AgentReply reply) {
        switch (reply) {
            case AgentReply.Offered h -> answer(h.call(), h);
            case AgentReply.Waiting h -> answer(h.call(), h);
            case AgentReply.Loaded h -> answer(h.call(), h);
            case AgentReply.Read h -> answer(h.call(), h);
            case AgentReply.Reserved h -> answer(h.call(), h);
            case AgentReply.Saved h -> answer(h.call(), h);
            case AgentReply.Found h -> answer(h.call(), h);
            case AgentReply.Done h -> answer(h.call(), h);
            case AgentReply.Refused h -> {
                refusals += h.refusal().equals("BAD_ARGUMENT") ? 1 : 0;
                answer(h.call(), h);
            }
            case AgentReply.Ready h -> {
                Run run = runs.get(h.attempt().request());
                if (run != null && run.attempt.equals(h.attempt()) && run.state == Run.State.ASKING) {
                    offered(run, h.offer());
                }
            }
            case AgentReply.Released h -> h.pages().forEach(page -> pool.unhold(page, h.attempt()));
            case AgentReply.SessionLost h -> lost(h.session());
        }
    }

    private void answer(long call, AgentReply reply) {
        Consumer<AgentReply> consumer = reply instanceof AgentReply.Waiting ? null : calls.remove(call);
        if (consumer != null) {
            consumer.accept(reply);
        }
    }

    private void lost(String which) {
        if (!which.equals(session)) {
            return;
        }
        session = "";
        registered = false;
        connecting = 0;
        List<Consumer<AgentReply>> open = List.copyOf(calls.values());
        calls.clear();
        open.forEach(call -> call.accept(new AgentReply.Refused(0, "SESSION_LOST", "")));
        outside.forget();
        pool.forgetAgent();
        for (Run run : runs.values()) {
            run.known = false;
            if (run.state == Run.State.ASKING) {
                enqueue(run);
            }
        }
    }

    void tellEvicted() {
        Map<String, List<PageBlock>> evicted = pool.takeEvicted();
        if (registered) {
            evicted.forEach((namespace, blocks) -> call(link.evicted(session, namespace, blocks), answer -> {}));
        }
    }

    // --- requests

    /** Accepts a request; its state shows the result. A further attempt of an ended request has the next number. */
    public void submit(Request request) {
        Run before = runs.get(request.id);
        if (before != null && !before.state.isEnd()) {
            end(before, Run.State.CANCELLED, "NEW_ATTEMPT");
        }
        runs.remove(request.id);
        int number = before == null ? 1 : before.attempt.number() + 1;
        Attempt attempt = new Attempt(session, request.id, number);
        String namespace = request.adapter.isEmpty() ? request.namespace : request.namespace + "+" + request.adapter;
        Prompt prompt = Prompt.of(namespace, config.blockTokens, request.tokens);
        Run run = new Run(attempt, prompt, request.tokens, new Run.Options(request.maxNew, request.reuseEligible));
        runs.put(request.id, run);
        going.remove(request.id);
        going.put(request.id, run);
        String rejection = rejection(request, run);
        if (!rejection.isEmpty()) {
            reject(run, rejection);
            return;
        }
        matchDevice(run);
        if (registered) {
            run.submitCall = call(link.submit(attempt, prompt, run.onDevice(pool), run.reuseEligible), answer -> submitted(run, answer));
        } else {
            run.known = false;
            enqueue(run);
        }
    }

    /** The rejection that is known before a load; empty when there is none. */
    private String rejection(Request request, Run run) {
        if (request.tokens.length + request.maxNew > config.maxContext) {
            return "CONTEXT_LENGTH";
        }
        if (!request.adapter.isEmpty() && !config.adapters.contains(request.adapter)) {
            return "UNKNOWN_ADAPTER";
        }
        return run.footprint() > Math.min(config.kvBudgetBlocks, config.devicePages) ? "KV_BUDGET" : "";
    }

    private void reject(Run run, String reason) {
        run.state = Run.State.REJECTED;
        run.reason = reason;
        if (registered) {
            call(link.submit(run.attempt, run.prompt, List.of(), false), answer -> {});
            call(link.finished(run.attempt, reason, 0), answer -> {});
        }
    }

    private void matchDevice(Run run) {
        for (int i = 0; i < run.reusable(); i++) {
            int page = pool.match(run.prompt.namespace(), run.prompt.keys().get(i), run.user());
            if (page < 0) {
                break;
            }
            run.pages.add(page);
            run.matched++;
        }
    }

    private void submitted(Run run, AgentReply answer) {
        if (run.state != Run.State.ASKING) {
            return;
        }
        if (answer instanceof AgentReply.Offered offered) {
            offered(run, offered.offer());
        } else {
            run.known = false;
            enqueue(run);
        }
    }

    private void offered(Run run, AgentReply.Offer offer) {
        calls.remove(run.submitCall);
        int blocks = Math.min(offer.sources().size(), run.reusable() - run.matched);
        run.reason = offer.reason();
        run.sources = offer.sources();
        if (blocks <= 0 || offer.firstIndex() != run.matched) {
            enqueue(run);
        } else if (pool.available() < blocks) {
            run.reason = "RESERVE_FAILED";
            call(link.giveUp(session, offer.lease()), answer -> {});
            enqueue(run);
        } else {
            load(run, offer, blocks);
        }
    }

    private void load(Run run, AgentReply.Offer offer, int blocks) {
        List<PageBlock> asked = new ArrayList<>();
        for (int i = 0; i < blocks; i++) {
            run.pages.add(pool.take(run.user()));
            asked.add(block(run, run.matched + i));
        }
        run.loading = blocks;
        run.state = Run.State.LOADING;
        run.lease = offer.lease();
        run.loadCall = call(link.load(run.attempt, run.prompt.namespace(), offer.lease(), asked), answer -> loadAnswered(run, answer));
    }

    private PageBlock block(Run run, int index) {
        return run.block(index, pool.generation(run.pages.get(index)));
    }

    private void loadAnswered(Run run, AgentReply answer) {
        if (run.state == Run.State.LOADING) {
            loadEnded(run, answer instanceof AgentReply.Loaded loaded ? loaded.blocks() : 0);
        } else {
            // It had ended before the answer: an answered load is idle, and a notice releases only the pages of what had arrived.
            int arrived = answer instanceof AgentReply.Loaded loaded ? loaded.blocks() : 0;
            run.unanswered.stream().skip(arrived).forEach(page -> pool.unhold(page, run.attempt));
        }
    }

    /** The first blocks have arrived and are compared; the pages of the others are the engine's again. */
    private void loadEnded(Run run, int arrived) {
        String namespace = run.prompt.namespace();
        for (int i = 0; i < arrived; i++) {
            int index = run.matched + i;
            int page = run.pages.get(index);
            Bytes key = run.prompt.keys().get(index);
            pool.compare(namespace, key, page, "loaded for " + run.user());
            pool.contains(page, new DevicePool.Content(namespace, key, run.prompt.parent(index), index), true);
        }
        run.loaded = arrived;
        run.loading = 0;
        enqueue(run);
    }

    private void enqueue(Run run) {
        run.state = Run.State.QUEUED;
        queue.add(run);
    }

    /** The first of the queue is admitted when its pages are available; none overtakes. */
    private boolean admit() {
        Run run = queue.peek();
        if (run == null || pool.available() < run.footprint() - run.pages.size()) {
            return false;
        }
        queue.remove();
        int have = run.prefix();
        for (int i = 0; i < run.matched; i++) {
            pool.compare(run.prompt.namespace(), run.prompt.keys().get(i), run.pages.get(i), "matched by " + run.user());
        }
        while (run.pages.size() < run.footprint()) {
            run.pages.add(pool.take(run.user()));
        }
        fill(run, have, run.promptTokens / config.blockTokens);
        run.state = Run.State.PREFILLING;
        return true;
    }

    private void fill(Run run, int from, int to) {
        String namespace = run.prompt.namespace();
        for (int i = from; i < to; i++) {
            int page = run.pages.get(i);
            pool.fill(page, new DevicePool.Content(namespace, run.prompt.keys().get(i), run.prompt.parent(i), i));
        }
    }

    private void prefill(Run run) {
        int whole = run.promptTokens / config.blockTokens;
        run.state = Run.State.DECODING;
        if (isKnown(run)) {
            call(link.prefilled(run.attempt, run.matched, run.loaded, whole - run.prefix()), answer -> {});
        }
        run.sealedTo = run.prefix();
        seal(run, 0, whole);
    }

    private boolean isKnown(Run run) {
        return run.known && registered && run.attempt.session().equals(session);
    }

    /** Blocks up to {@code to} are whole: later requests match them, and the agent receives those that it does not track. */
    private void seal(Run run, int publishFrom, int to) {
        List<PageBlock> fresh = new ArrayList<>();
        for (int i = publishFrom; i < to; i++) {
            run.publish(pool, i, isKnown(run));
            if (i >= run.sealedTo) {
                fresh.add(block(run, i));
            }
        }
        if (fresh.isEmpty()) {
            return;
        }
        run.sealedTo = to;
        if (isKnown(run)) {
            for (PageBlock block : fresh) {
                run.sealed.add(block.page());
                pool.contains(block.page(), new DevicePool.Content(run.prompt.namespace(), block.key(), block.parent(), block.index()), true);
            }
            call(link.sealed(run.attempt, run.prompt.namespace(), run.prompt.keys().getFirst(), fresh), answer -> {});
        }
    }

    /** Tokens are decoded; false when the request cannot, for its state or for want of pages. */
    public boolean generate(String request, int[] more) {
        Run run = runs.get(request);
        if (run == null || (run.state != Run.State.PREFILLING && run.state != Run.State.DECODING)) {
            return false;
        }
        int pages = Math.ceilDiv(run.tokens.length + more.length - 1, config.blockTokens);
        if (pages - run.pages.size() > pool.available()) {
            return false;
        }
        while (run.pages.size() < pages) {
            run.pages.add(pool.take(run.user()));
        }
        if (run.state == Run.State.PREFILLING) {
            prefill(run);
        }
        int before = Math.max(run.sealedTo, run.prefix());
        run.append(more);
        fill(run, before, run.wholeBlocks());
        seal(run, before, run.wholeBlocks());
        tellEvicted();
        return true;
    }

    /** The request ends in good order, whatever it is doing; false when it is over or unknown. */
    public boolean finish(String request, String reason) {
        Run run = runs.get(request);
        if (run == null || run.state.isEnd()) {
            return false;
        }
        if (run.state == Run.State.PREFILLING) {
            prefill(run);
        }
        end(run, Run.State.FINISHED, reason);
        return true;
    }

    /** Cancels the request; false when it is over or unknown. */
    public boolean cancel(String request) {
        Run run = runs.get(request);
        if (run == null || run.state.isEnd()) {
            return false;
        }
        end(run, Run.State.CANCELLED, "CLIENT_CANCELLED");
        return true;
    }

    private void end(Run run, Run.State state, String reason) {
        boolean known = isKnown(run);
        queue.remove(run);
        Set<Integer> touched = new LinkedHashSet<>();
        if (known) {
            touched.addAll(run.sealed);
            touched.addAll(run.reusedPages());
            touched.forEach(page -> pool.hold(page, run.attempt));
            run.unanswered = List.copyOf(run.pages.subList(run.matched, run.matched + run.loading));
        }
        run.state = state;
        run.reason = reason;
        if (known) {
            long call = state == Run.State.CANCELLED
                    ? link.cancelled(run.attempt)
                    : link.finished(run.attempt, reason, Math.max(1, run.generated));
            call(call, answer -> {
                if (answer instanceof AgentReply.Refused) {
                    touched.forEach(page -> pool.unhold(page, run.attempt));
                }
            });
        }
        run.loading = 0;
        for (int i = run.pages.size() - 1; i >= 0; i--) {
            pool.disuse(run.pages.get(i), run.user());
        }
        run.pages.clear();
        tellEvicted();
    }

    /** The caller of this request's load is gone: a notice releases its pages, and the request goes on without. False when none runs. */
    public boolean abandonLoad(String request) {
        Run run = runs.get(request);
        if (run == null || run.state != Run.State.LOADING || !isKnown(run)) {
            return false;
        }
        List<Integer> touched = List.copyOf(run.pages.subList(run.matched, run.matched + run.loading));
        touched.forEach(page -> pool.hold(page, run.attempt));
        touched.forEach(page -> pool.disuse(page, run.user()));
        run.pages.subList(run.matched, run.pages.size()).clear();
        run.loading = 0;
        calls.remove(run.loadCall);
        enqueue(run);
        link.gone(run.loadCall, run.attempt, touched);
        return true;
    }

    /** Saves what the request has sealed to the host now; false when there is nothing. */
    public boolean save(String request, String name) {
        Run run = runs.get(request);
        if (run == null || run.state != Run.State.DECODING || !isKnown(run) || run.sealed.isEmpty()) {
            return false;
        }
        List<PageBlock> blocks = new ArrayList<>();
        for (int i = run.sealedTo - run.sealed.size(); i < run.sealedTo; i++) {
            blocks.add(block(run, i));
        }
        call(link.save(run.attempt, run.prompt.namespace(), blocks), answer -> outcome(name, answer));
        return true;
    }

    // --- outside of requests

    /** Reads blocks by name, exist calls, reservations. */
    public Outside outside() {
        return outside;
    }

    DevicePool pool() {
        return pool;
    }

    AgentLink link() {
        return link;
    }

    void outcome(String name, AgentReply answer) {
        outcomes.put(name, Outside.describe(answer));
    }
}
