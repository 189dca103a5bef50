/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import io.tierlog.engine.v1.EvictedBlock;
import io.tierlog.engine.v1.EvictedRequest;
import io.tierlog.engine.v1.Released;
import io.tierlog.ops.engine.api.AgentClient;
import io.tierlog.ops.engine.api.AgentSession;
import io.tierlog.ops.engine.api.CallRefused;
import io.tierlog.ops.engine.api.SessionLost;
import io.tierlog.ops.engine.device.ContentOracle;
import io.tierlog.ops.engine.device.DevicePool;
import io.tierlog.ops.engine.device.EvictedPage;
import io.tierlog.ops.engine.workload.BlockKey;
import io.tierlog.ops.engine.workload.IdealCache;
import io.tierlog.ops.engine.workload.Request;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine of one node: its device pool, its session with the agent, and its requests, each in a virtual thread of its own. The dispatcher bounds
 * how many run.
 *
 * <p>Without a session it goes on with its device cache alone. When a session is lost, the pool moves to a new file before another session begins.
 */
final class Engine implements AutoCloseable, AgentClient.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);
    private static final int MAX_EVICTED = 1_000;

    private final Shared shared;
    private final int number;
    private final EngineNode node;
    private final DevicePool pool;
    private final ReentrantLock reporting = new ReentrantLock();
    private final AgentClient agent;
    private volatile boolean closing;

    /**
     * What all engines of a run share.
     *
     * @param oracles one for each tenant
     */
    record Shared(
            ReplayConfig config, Tally tally, MissLedger misses, IdealCache ideal, List<ContentOracle> oracles, Background background) {
        static Shared of(ReplayConfig config, Background background) {
            List<ContentOracle> oracles = IntStream.range(0, config.workload().tenants().size())
                    .mapToObj(tenant -> new ContentOracle(config.namespace(tenant)))
                    .toList();
            return new Shared(config, new Tally(config.nodes().size(), config.workload().tenants()), new MissLedger(config), new IdealCache(),
                    oracles, background);
        }
    }

    /**
     * Work that belongs to no request.
     *
     * @param threads runs it
     * @param failed receives a failure and ends the run
     */
    record Background(ExecutorService threads, Consumer<Throwable> failed) {}

    Engine(Shared shared, int number) throws IOException {
        this.shared = shared;
        this.number = number;
        ReplayConfig config = shared.config;
        this.node = config.nodes().get(number);
        ReplayConfig.Device device = config.device();
        this.pool = new DevicePool(new DevicePool.Plan(
                device.directory(), "tierlog-device-" + node.name(), device.pages(), device.blockBytes(), device.retention()));
        this.agent = new AgentClient(
                new AgentClient.Terms(
                        node.address(),
                        "engine-" + node.name(),
                        device.blockBytes(),
                        config.identity().layoutDigest(),
                        configuration(config),
                        config.timeouts()),
                this);
    }

    private static Map<String, String> configuration(ReplayConfig config) {
        return Map.of(
                "run", config.run(),
                "workload", config.workload().name(),
                "concurrency", Integer.toString(config.pacing().concurrency()),
                "device_retention", Boolean.toString(config.device().retention()),
                "prefill_us_per_token", Long.toString(config.pacing().prefillMicrosPerToken()));
    }

    /** Begins to connect to the agent. */
    void start() {
        agent.start();
    }

    /** A request as the dispatcher hands it over, with its place in the queue for pages. */
    record Admitted(Request request, int ideal, DevicePool.Ticket ticket) {}

    /** Adds {@code request} to the queue for pages; called in order of arrival. */
    Admitted admit(Request request) {
        return new Admitted(request, shared.ideal.admit(request), pool.enqueue());
    }

    /** Runs a request to its end. */
    void run(Admitted admitted) throws InterruptedException {
        if (admitted.request.shape().pages() > pool.pages()) {
            pool.giveUp(admitted.ticket);
            shared.tally.rejected(number);
            LOG.warn("request {} needs {} device pages of {}: rejected", admitted.request.index(), admitted.request.shape().pages(), pool.pages());
            new RequestRun(this, admitted).reject();
        } else {
            new RequestRun(this, admitted).run();
        }
    }

    Shared shared() {
        return shared;
    }

    int number() {
        return number;
    }

    EngineNode node() {
        return node;
    }

    DevicePool pool() {
        return pool;
    }

    AgentClient agent() {
        return agent;
    }

    ContentOracle oracle(Request request) {
        return shared.oracles.get(request.tenant());
    }

    String namespace(Request request) {
        return shared.config.namespace(request.tenant());
    }

    /** A block with wrong content: counted, and logged once for every block. */
    void wrongContent(Request request, BlockKey key, String where) {
        String what = "node " + node.name() + ", request " + request.index() + ", namespace " + namespace(request) + ", key " + key + ", " + where;
        LOG.error("wrong content: {}", what);
        shared.tally.wrongContent(number, what);
    }

    /**
     * Reports to the agent what has left the device. When it returns, the agent has all evictions of before the call, also those that another
     * thread reports: a caller goes on to reuse or finish pages, and no later call may overtake them.
     */
    void reportEvicted() throws InterruptedException {
        reporting.lockInterruptibly();
        try {
            report(pool.takeEvicted());
        } finally {
            reporting.unlock();
        }
    }

    private void report(List<EvictedPage> evicted) throws InterruptedException {
        Optional<AgentSession> session = agent.current();
        if (evicted.isEmpty() || session.isEmpty()) {
            return;
        }
        Map<Integer, List<EvictedBlock>> byTenant = new LinkedHashMap<>();
        for (EvictedPage page : evicted) {
            byTenant.computeIfAbsent(page.block().tenant(), tenant -> new ArrayList<>()).add(wire(page));
        }
        try {
            for (Map.Entry<Integer, List<EvictedBlock>> tenant : byTenant.entrySet()) {
                List<EvictedBlock> blocks = tenant.getValue();
                for (int from = 0; from < blocks.size(); from += MAX_EVICTED) {
                    session.get().evicted(EvictedRequest.newBuilder()
                            .setSession(session.get().id())
                            .setNamespace(shared.config.namespace(tenant.getKey()))
                            .addAllBlocks(blocks.subList(from, Math.min(blocks.size(), from + MAX_EVICTED)))
                            .build());
                }
            }
        } catch (CallRefused e) {
            shared.tally.refused(e.summary());
        } catch (SessionLost e) {
            LOG.debug("{} blocks left the device without a report: {}", evicted.size(), e.getMessage());
        }
    }

    private static EvictedBlock wire(EvictedPage page) {
        EvictedBlock.Builder block = EvictedBlock.newBuilder()
                .setIndex(page.index())
                .setKey(page.block().key().toByteString())
                .setPage(page.page())
                .setGeneration(page.generation());
        page.parent().ifPresent(parent -> block.setParent(parent.toByteString()));
        return block.build();
    }

    @Override
    public AgentClient.Buffers buffers() {
        return new AgentClient.Buffers(pool.path().toString(), pool.pages(), pool.epoch());
    }

    @Override
    public void released(AgentSession session, Released notice) {
        AgentSession.Attempt attempt = new AgentSession.Attempt(notice.getRequest(), notice.getAttempt());
        guarded(() -> pool.released(attempt.toString(), notice.getPagesList(), session.epoch()));
        if (!shared.config.device().retention() && !closing) {
            shared.background.threads.execute(() -> {
                try {
                    reportEvicted();
                } catch (InterruptedException e) {
                    LOG.debug("evictions of {} not reported: the run ends", attempt);
                }
            });
        }
    }

    @Override
    public void lost(AgentSession session, String reason) {
        if (!closing) {
            shared.tally.sessionLost(number);
            guarded(pool::detach);
        }
    }

    /** A failure in a thread of the agent's client is a mistake in the books of the pool, or the end of its memory: it ends the run. */
    private void guarded(Runnable change) {
        try {
            change.run();
        } catch (RuntimeException e) {
            LOG.error("the device pool of node {} failed", node.name(), e);
            shared.background.failed.accept(e);
        }
    }

    /** Ends the session when the agent has released nothing for too long. */
    void watch() {
        long stuckMs = pool.stuckMs();
        if (stuckMs > shared.config.timeouts().stuckMs()) {
            agent.current().ifPresent(session -> session.end("the agent has released no page for " + stuckMs + " ms"));
        }
    }

    /** Waits for the pages that the agent still holds; returns what is left at the end. */
    RunReport.PoolEnd drain() throws InterruptedException {
        if (agent.current().isPresent() && !pool.awaitReleased(shared.config.timeouts().drainMs())) {
            LOG.warn("the agent of node {} still holds {} device pages at the end of the run", node.name(), pool.usage().held());
        }
        pool.validate();
        DevicePool.Usage usage = pool.usage();
        return new RunReport.PoolEnd(pool.pages(), usage.cached(), usage.held());
    }

    /** From now on the end of the session is expected. */
    void stopping() {
        closing = true;
    }

    /** Ends the session and opens no other. */
    void stopSession() {
        stopping();
        agent.close();
    }

    /** Removes the device memory; no request may run any more. */
    @Override
    public void close() throws IOException {
        stopSession();
        pool.close();
    }
}
