/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.StoreProbed;
import io.tierlog.agent.core.api.AgentInput.StoreUnitEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.StoreTransfers;
import io.tierlog.agent.queue.UnitQueue;
import io.tierlog.agent.queue.UnitQueue.Load;
import io.tierlog.agent.queue.UnitQueue.Unit;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.threads.RareWarning;
import io.tierlog.threads.ThreadFaults;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves blocks between host pages and a shared store with a bounded number of threads.
 *
 * <p>A unit is cut into pieces that several workers take, and ends once, when its last piece has. Probes, reads and writes have workers
 * of their own: a request waits for reads, which shall not stand behind backups, nor behind probes of a store that hangs on them.
 * Calls come from the core's thread, completions from the workers' (or from the caller's when the queue is full); their consumer must not
 * block. Trade-off: {@code probers + readers + writers} threads that may hang with a hanging file system, and units of one kind may end in
 * another order than they began.
 */
public final class StoreWorkers implements StoreTransfers, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StoreWorkers.class);
    private static final int MOST_NAMESPACES = 1_000;

    /**
     * What bounds the workers.
     *
     * @param probers threads for probes
     * @param readers threads for reads
     * @param writers threads for writes
     * @param queueObjects objects of units accepted and not ended, per kind of worker; a key of a probe counts as one
     * @param queueBytes bytes of those, per kind of worker; a single unit may have more
     * @param pieceObjects objects in one piece
     */
    public record Limits(int probers, int readers, int writers, int queueObjects, long queueBytes, int pieceObjects) {
        /** 4 probers, 4 readers, 2 writers, 65,536 objects or 16 GiB, pieces of 16 objects. */
        public static final Limits DEFAULTS = new Limits(4, 4, 2, 65_536, 16L << 30, 16);

        public Limits {
            if (probers < 1 || readers < 1 || writers < 1 || queueObjects < 1 || queueBytes < 1 || pieceObjects < 1) {
                throw new IllegalArgumentException("store limits are 1 or more: probers " + probers + ", readers " + readers + ", writers " + writers
                        + ", queueObjects " + queueObjects + ", queueBytes " + queueBytes + ", pieceObjects " + pieceObjects);
            }
        }
    }

    /** Moves one object. */
    private interface Mover {
        SharedStore.Result move(ObjectName name, PageObject object);
    }

    private final SharedStore store;
    private final HostPool host;
    private final Limits limits;
    private final Consumer<AgentInput> completions;
    private final UnitQueue probers;
    private final UnitQueue readers;
    private final UnitQueue writers;
    private final Map<Long, Probe> probes = new ConcurrentHashMap<>();
    private final RareWarning warning = new RareWarning(LOG);
    private final Map<String, Bytes> digests = Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Bytes> eldest) {
            return size() > MOST_NAMESPACES;
        }
    });

    /**
     * @param name begins the names of the threads
     * @param completions receives the end of every unit, once
     */
    public StoreWorkers(String name, SharedStore store, HostPool host, Limits limits, Consumer<AgentInput> completions) {
        this.store = store;
        this.host = host;
        this.limits = limits;
        this.completions = completions;
        Load most = new Load(limits.queueObjects(), limits.queueBytes());
        this.probers = new UnitQueue(name + "-store-probe", limits.probers(), most);
        this.readers = new UnitQueue(name + "-store-read", limits.readers(), most);
        this.writers = new UnitQueue(name + "-store-write", limits.writers(), most);
    }

    @Override
    public void probe(long unit, String namespace, List<Bytes> keys) {
        Bytes digest = digest(namespace);
        Probe probe = new Probe(store, digest, keys);
        probes.put(unit, probe);
        boolean queued = probers.submit(new Unit(keys.size(), limits.pieceObjects(), new Load(keys.size(), 0)), probe::piece, () -> {
            probes.remove(unit);
            completions.accept(probe.answer(unit));
        });
        if (!queued) {
            probes.remove(unit);
            completions.accept(new StoreProbed(unit, 0, false));
        }
    }

    @Override
    public void cancelProbe(long unit) {
        Probe probe = probes.get(unit);
        if (probe != null) {
            probe.cancel();
        }
    }

    @Override
    public void read(long unit, String namespace, List<PageObject> objects) {
        move(readers, unit, namespace, objects, (name, object) -> store.read(name, host.buffer(object.hostPage())));
    }

    @Override
    public void write(long unit, String namespace, List<PageObject> objects) {
        move(writers, unit, namespace, objects, (name, object) -> {
            ByteBuffer page = host.buffer(object.hostPage());
            int found = host.crc32c(object.hostPage());
            return found == object.crc32c()
                    ? store.write(name, page, found)
                    : SharedStore.Result.failed(OperationReason.CHECKSUM, "host page " + object.hostPage() + " has changed");
        });
    }

    /** One piece, for one writer: the order counts, and what stays ends it. Deletes share the writers, since they make space for them. */
    @Override
    public void delete(long unit, String namespace, List<StoredObject> objects) {
        Bytes digest = digest(namespace);
        UnitResult[] results = new UnitResult[objects.size()];
        Arrays.fill(results, failed(OperationReason.CANCELLED));
        boolean queued = writers.submit(new Unit(objects.size(), objects.size(), new Load(objects.size(), 0)), (from, to, ran) -> {
            for (int i = from; i < to && ran; i++) {
                StoredObject object = objects.get(i);
                results[i] = i > from && stays(results[i - 1])
                        ? results[i - 1]
                        : one(digest, object.key(), name -> store.delete(name, object.generation()));
            }
        }, () -> completions.accept(new StoreUnitEnded(unit, Arrays.asList(results))));
        if (!queued) {
            completions.accept(new StoreUnitEnded(unit, Collections.nCopies(objects.size(), failed(OperationReason.QUEUE_FULL))));
        }
    }

    private static boolean stays(UnitResult result) {
        return switch (result.reason()) {
            case NOT_FOUND, STALE_GENERATION -> false;
            default -> result.status() != BlockStatus.GONE;
        };
    }

    /** Lets pieces under way end, answers the rest with CANCELLED, and returns when no byte moves any more. */
    @Override
    public void close() {
        probers.close();
        readers.close();
        writers.close();
    }

    private void move(UnitQueue workers, long unit, String namespace, List<PageObject> objects, Mover mover) {
        Bytes digest = digest(namespace);
        UnitResult[] results = new UnitResult[objects.size()];
        Arrays.fill(results, failed(OperationReason.CANCELLED));
        Load load = new Load(objects.size(), (long) objects.size() * host.blockBytes());
        boolean queued = workers.submit(new Unit(objects.size(), limits.pieceObjects(), load), (from, to, ran) -> {
            for (int i = from; i < to && ran; i++) {
                PageObject object = objects.get(i);
                results[i] = one(digest, object.key(), name -> mover.move(name, object));
            }
        }, () -> completions.accept(new StoreUnitEnded(unit, Arrays.asList(results))));
        if (!queued) {
            completions.accept(new StoreUnitEnded(unit, Collections.nCopies(objects.size(), failed(OperationReason.QUEUE_FULL))));
        }
    }

    private UnitResult one(Bytes namespace, Bytes key, Function<ObjectName, SharedStore.Result> call) {
        SharedStore.Result result;
        try {
            result = call.apply(new ObjectName(namespace, key));
        } catch (RuntimeException | Error e) {
            // The port does not throw; a defect of a store must not leave the unit without an end.
            ThreadFaults.ofProcess().met("tierlog-store", e);
            return failed(OperationReason.IO);
        }
        if (result.status() == BlockStatus.FAILED && result.reason() != OperationReason.NOT_FOUND) {
            warning.warn("store: {}", result.detail());
        }
        return new UnitResult(result.status(), result.reason(), result.crc32c(), result.generation());
    }

    private static UnitResult failed(OperationReason reason) {
        return new UnitResult(BlockStatus.FAILED, reason, 0);
    }

    private Bytes digest(String namespace) {
        return digests.computeIfAbsent(namespace, ObjectName::digest);
    }
}
