/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import io.tierlog.engine.v1.BlockPage;
import io.tierlog.engine.v1.FinishRequest;
import io.tierlog.engine.v1.FinishRequest.Outcome;
import io.tierlog.engine.v1.LoadReply;
import io.tierlog.engine.v1.LoadRequest;
import io.tierlog.engine.v1.PrefilledRequest;
import io.tierlog.engine.v1.SealedRequest;
import io.tierlog.engine.v1.SubmitRequest;
import io.tierlog.ops.engine.api.AgentSession;
import io.tierlog.ops.engine.api.AgentSession.Attempt;
import io.tierlog.ops.engine.api.AgentSession.Submitted;
import io.tierlog.ops.engine.api.CallRefused;
import io.tierlog.ops.engine.api.SessionLost;
import io.tierlog.ops.engine.device.BlockTable;
import io.tierlog.ops.engine.device.DevicePool;
import io.tierlog.ops.engine.device.DevicePool.PlacedBlock;
import io.tierlog.ops.engine.workload.BlockKey;
import io.tierlog.ops.engine.workload.Request;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls of one request to the agent, and what follows when the agent refuses or is gone. Used by the request's thread.
 *
 * <p>A refused call has done nothing, so the request goes on in its session. A lost session ends the attempt; {@link #finish} begins
 * another when there is a new session by then.
 */
final class Tiers {
    private static final Logger LOG = LoggerFactory.getLogger(Tiers.class);
    private static final int MAX_RUN = 1_000;
    private static final int MAX_TRIES = 6;
    private static final long FIRST_PAUSE_MS = 10;

    private final Engine engine;
    private final Request request;
    private final DevicePool pool;
    private final String name;
    private int attempts;
    private Optional<AgentSession> session = Optional.empty();
    private MissCause absence = MissCause.NO_AGENT;
    /** Pages that the agent may still read after the end of the attempt: those that it was given to know, by index of the block. */
    private final SequencedMap<Integer, Integer> keptPages = new LinkedHashMap<>();

    Tiers(Engine engine, Request request) {
        this.engine = engine;
        this.request = request;
        this.pool = engine.pool();
        this.name = engine.shared().config().run() + "-" + request.index();
    }

    /** One call to the agent. */
    private interface Call<R> {
        R with(AgentSession session) throws CallRefused, SessionLost, InterruptedException;
    }

    /** Name of the request in the log. */
    String name() {
        return name;
    }

    /** Why there is no agent. */
    MissCause absence() {
        return absence;
    }

    /** Epoch of the pool in the attempt's session; {@link DevicePool#ANY_EPOCH} without one. */
    long epoch() {
        return session.map(AgentSession::epoch).orElse(DevicePool.ANY_EPOCH);
    }

    private Attempt attempt() {
        return new Attempt(name, attempts);
    }

    /** Submits a new attempt to the present session and waits for its offer; empty when there is no agent to wait for. */
    Optional<Submitted> submit(List<PlacedBlock> onDevice, boolean reuseEligible) throws InterruptedException {
        session = engine.agent().current();
        keptPages.clear();
        if (session.isEmpty()) {
            absence = MissCause.NO_AGENT;
            return Optional.empty();
        }
        attempts++;
        SubmitRequest.Builder submit = SubmitRequest.newBuilder()
                .setSession(session.get().id())
                .setRequest(name)
                .setAttempt(attempts)
                .setNamespace(engine.namespace(request))
                .setPromptTokens(request.shape().inputTokens())
                .setBlockTokens(request.shape().blockTokens())
                .setDeviceBlocks(onDevice.size())
                .setKeepsPages(true)
                .setReuseEligible(reuseEligible)
                .setPrefillNsPerToken(TimeUnit.MICROSECONDS.toNanos(engine.shared().config().pacing().prefillMicrosPerToken()));
        request.wholeKeys().forEach(key -> submit.addKeys(key.toByteString()));
        for (PlacedBlock block : onDevice) {
            submit.addDevicePages(page(block));
            keptPages.put(block.index(), block.page());
        }
        Optional<Submitted> submitted = call(s -> s.submit(submit.build(), traceparent()));
        if (submitted.isEmpty()) {
            // The agent has not accepted the attempt, so no later call may name it.
            session = Optional.empty();
        }
        return submitted;
    }

    /** The trace context of the request, in which it is a trace of its own; empty where requests are not traced. */
    private Optional<String> traceparent() {
        return engine.shared().config().traced()
                ? Optional.of("00-" + digits(name) + "-" + digits(name + "/caller").substring(16) + "-01")
                : Optional.empty();
    }

    private static String digits(String text) {
        return UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8)).toString().replace("-", "");
    }

    private static BlockPage page(PlacedBlock block) {
        return BlockPage.newBuilder()
                .setIndex(block.index())
                .setKey(block.key().toByteString())
                .setPage(block.page())
                .setGeneration(block.generation())
                .build();
    }

    /** The agent has loaded a block into that page. */
    void loaded(int index, int page) {
        keptPages.put(index, page);
    }

    /** Loads blocks; empty when it is unknown whether they arrived. */
    Optional<LoadReply> load(LoadRequest.Builder load) throws InterruptedException {
        return call(s -> s.load(load.setSession(s.id())
                .setRequest(name)
                .setAttempt(attempts)
                .setNamespace(engine.namespace(request))
                .build()));
    }

    /** The prompt is prefilled. */
    void prefilled(int device, int loaded, int computed) throws InterruptedException {
        call(s -> {
            s.prefilled(PrefilledRequest.newBuilder()
                    .setSession(s.id())
                    .setRequest(name)
                    .setAttempt(attempts)
                    .setDeviceBlocks(device)
                    .setLoadedBlocks(loaded)
                    .setComputedBlocks(computed)
                    .build());
            return true;
        });
    }

    /** Reports the published blocks that this session has not received: those of this request, and those computed without a session. */
    void sealed(BlockTable blocks, List<BlockKey> keys) throws InterruptedException {
        if (session.isEmpty()) {
            return;
        }
        List<PlacedBlock> untold = pool.tell(blocks, keys, session.get().epoch());
        int from = 0;
        while (from < untold.size()) {
            int to = from + 1;
            while (to < untold.size() && to - from < MAX_RUN && untold.get(to).index() == untold.get(to - 1).index() + 1) {
                to++;
            }
            List<PlacedBlock> run = untold.subList(from, to);
            if (call(s -> seal(s, keys, run)).isPresent()) {
                run.forEach(block -> keptPages.put(block.index(), block.page()));
            }
            from = to;
        }
    }

    private boolean seal(AgentSession s, List<BlockKey> keys, List<PlacedBlock> run) throws CallRefused, SessionLost, InterruptedException {
        SealedRequest.Builder sealed = SealedRequest.newBuilder()
                .setSession(s.id())
                .setRequest(name)
                .setAttempt(attempts)
                .setNamespace(engine.namespace(request))
                .setRoot(keys.getFirst().toByteString());
        int first = run.getFirst().index();
        if (first > 0) {
            sealed.setParent(keys.get(first - 1).toByteString());
        }
        run.forEach(block -> sealed.addBlocks(page(block)));
        s.sealed(sealed.build());
        return true;
    }

    /** Ends the request in good order, after a report of all its blocks to the present session. */
    void finish(BlockTable blocks, List<BlockKey> keys) throws InterruptedException {
        Optional<AgentSession> present = engine.agent().current();
        boolean moved = present.isPresent() && !present.equals(session) && attempts > 0;
        if (moved && submit(pool.placed(blocks, request.wholeKeys()), request.reuseEligible()).isPresent()) {
            LOG.debug("{} goes on as attempt {}", name, attempts);
            engine.shared().tally().resubmitted(engine.number());
            prefilled(request.accesses(), 0, 0);
        }
        sealed(blocks, keys);
        if (session.isEmpty()) {
            return;
        }
        long epoch = session.get().epoch();
        // From now on the agent may hold the pages, so the pool records the hold before the call.
        // A page whose block has moved to another one since is not in use any more: the agent has its eviction.
        List<Integer> kept = keptPages.entrySet().stream()
                .filter(page -> blocks.page(page.getKey()) == page.getValue())
                .map(Map.Entry::getValue)
                .toList();
        pool.hold(attempt().toString(), kept, epoch);
        if (call(s -> finish(s, Outcome.OUTCOME_COMPLETED)).isEmpty() && session.isPresent()) {
            pool.released(attempt().toString(), kept, epoch);
        }
    }

    /** Records that the request can never run: it needs more device pages than there are. */
    void reject() throws InterruptedException {
        if (submit(List.of(), false).isPresent()) {
            call(s -> finish(s, Outcome.OUTCOME_REJECTED_KV_BUDGET));
        }
    }

    private boolean finish(AgentSession s, Outcome outcome) throws CallRefused, SessionLost, InterruptedException {
        s.finish(FinishRequest.newBuilder()
                .setSession(s.id())
                .setRequest(name)
                .setAttempt(attempts)
                .setOutcome(outcome)
                .setGeneratedTokens(outcome == Outcome.OUTCOME_COMPLETED ? request.shape().outputTokens() : 0)
                .build());
        return true;
    }

    /** Makes a call, again when it is refused for now; empty when it was refused for good or the session is lost. */
    private <R> Optional<R> call(Call<R> call) throws InterruptedException {
        if (session.isEmpty()) {
            return Optional.empty();
        }
        long pauseMs = FIRST_PAUSE_MS;
        for (int tries = 1; ; tries++) {
            try {
                return Optional.of(call.with(session.get()));
            } catch (SessionLost e) {
                LOG.debug("{} goes on without tiers: {}", name, e.getMessage());
                session = Optional.empty();
                absence = MissCause.NO_AGENT;
                return Optional.empty();
            } catch (CallRefused e) {
                engine.shared().tally().refused(e.summary());
                absence = MissCause.AGENT_BUSY;
                if (!e.isRetry() || tries == MAX_TRIES) {
                    LOG.debug("{}: {}", name, e.getMessage());
                    return Optional.empty();
                }
            }
            Thread.sleep(pauseMs);
            pauseMs *= 2;
        }
    }
}
