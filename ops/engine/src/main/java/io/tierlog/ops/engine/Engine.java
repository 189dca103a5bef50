/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import io.tierlog.engine.v1.EvictedBlock;
import io.tierlog.engine.v1.EvictedRequest;
import io.tierlog.engine.v1.Released;
import io.tierlog.ops.engine.device.ContentOracle;
import io.tierlog.ops.engine.device.DevicePool;
import io.tierlog.ops.engine.device.EvictedPage;
import io.tierlog.ops.engine.door.DoorClient;
import io.tierlog.ops.engine.door.DoorRefusal;
import io.tierlog.ops.engine.door.DoorSession;
import io.tierlog.ops.engine.door.SessionLost;
import io.tierlog.ops.engine.workload.BlockKey;
import io.tierlog.ops.engine.workload.IdealCache;
import io.tierlog.ops.engine.workload.Request;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine of one node: its device pool, its door, and the requests it runs, each in a virtual thread of its own. The dispatcher bounds
 * how many run.
 *
 * <p>Without a session it goes on with its device cache alone. When a session is lost, the pool moves to a new file before another session begins.
 */
final class Engine implements AutoCloseable, DoorClient.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);

    private final Shared shared;
    private final int number;
    private final EngineNode node;
    private final DevicePool pool;
    private final DoorClient door;
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
     * @param failed hears of what must not happen and ends the run
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
        this.door = new DoorClient(
                new DoorClient.Terms(
                        node.door(),
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

    /** Begins to seek the agent. */
    void start() {
        door.start();
    }

    /** A request as the dispatcher hands it over, with its place in the queue for pages. */
    record Admitted(Request request, int ideal, DevicePool.Ticket ticket) {}

    /** Takes a place in the queue for {@code request}; called in order of arrival. */
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

    DoorClient door() {
        return door;
    }

    ContentOracle oracle(Request request) {
        return shared.oracles.get(request.tenant());
    }

    String namespace(Request request) {
        return shared.config.namespace(request.tenant());
    }

    /** A block with wrong content: counted, and said once for every block. */
    void wrongContent(Request request, BlockKey key, String where) {
        String what = "node " + node.name() + ", request " + request.index() + ", namespace " + namespace(request) + ", key " + key + ", " + where;
        LOG.error("wrong content: {}", what);
        shared.tally.wrongContent(number, what);
    }

    /** Tells the agent what has left the device. */
    void reportEvicted() throws InterruptedException {
        List<EvictedPage> evicted = pool.takeEvicted();
        Optional<DoorSession> session = door.current();
        if (evicted.isEmpty() || session.isEmpty()) {
            return;
        }
        Map<Integer, EvictedRequest.Builder> byTenant = new LinkedHashMap<>();
        for (EvictedPage page : evicted) {
            byTenant.computeIfAbsent(page.block().tenant(), tenant -> EvictedRequest.newBuilder()
                            .setSession(session.get().id())
                            .setNamespace(shared.config.namespace(tenant)))
                    .addBlocks(wire(page));
        }
        try {
            for (EvictedRequest.Builder request : byTenant.values()) {
                session.get().evicted(request.build());
            }
        } catch (DoorRefusal e) {
            shared.tally.refused(e.summary());
        } catch (SessionLost e) {
            LOG.debug("{} blocks left the device unheard: {}", evicted.size(), e.getMessage());
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
    public DoorClient.Buffers buffers() {
        return new DoorClient.Buffers(pool.path().toString(), pool.pages(), pool.epoch());
    }

    @Override
    public void released(DoorSession session, Released notice) {
        DoorSession.Attempt attempt = new DoorSession.Attempt(notice.getRequest(), notice.getAttempt());
        guarded(() -> pool.released(attempt.toString(), notice.getPagesList(), session.epoch()));
        if (!shared.config.device().retention() && !closing) {
            shared.background.threads.execute(() -> {
                try {
                    reportEvicted();
                } catch (InterruptedException e) {
                    LOG.debug("evictions of {} unheard: the run ends", attempt);
                }
            });
        }
    }

    @Override
    public void lost(DoorSession session, String reason) {
        if (!closing) {
            shared.tally.sessionLost(number);
            guarded(pool::detach);
        }
    }

    /** What fails in a thread of the door is a mistake in the books of the pool, or the end of its memory: it ends the run. */
    private void guarded(Runnable change) {
        try {
            change.run();
        } catch (RuntimeException e) {
            LOG.error("the device pool of node {} failed", node.name(), e);
            shared.background.failed.accept(e);
        }
    }

    /** Gives the session up when the agent has released nothing for too long. */
    void watch() {
        long stuckMs = pool.stuckMs();
        if (stuckMs > shared.config.timeouts().stuckMs()) {
            door.current().ifPresent(session -> session.end("the agent has released no page for " + stuckMs + " ms"));
        }
    }

    /** Waits for what the agent still holds; what is left at the end. */
    RunReport.PoolEnd drain() throws InterruptedException {
        if (door.current().isPresent() && !pool.awaitReleased(shared.config.timeouts().drainMs())) {
            LOG.warn("the agent of node {} still holds {} device pages at the end of the run", node.name(), pool.usage().held());
        }
        pool.validate();
        DevicePool.Usage usage = pool.usage();
        return new RunReport.PoolEnd(pool.pages(), usage.cached(), usage.held());
    }

    /** From here on the end of the session is meant. */
    void stopping() {
        closing = true;
    }

    /** Ends the session and seeks no other. */
    void stopDoor() {
        stopping();
        door.close();
    }

    /** Removes the device memory; no request may run any more. */
    @Override
    public void close() throws IOException {
        stopDoor();
        pool.close();
    }
}
