/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.core.AgentInput;
import io.tierlog.agent.core.AgentInput.StoreProbed;
import io.tierlog.agent.core.AgentInput.StoreUnitEnded;
import io.tierlog.agent.core.AgentInput.UnitResult;
import io.tierlog.agent.core.port.StoreTransfers;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves blocks between host pages and a shared store with a bounded number of threads.
 *
 * <p>A unit is cut into pieces that several workers take, and ends once, when its last piece has. Probes and reads have workers of their
 * own: a request waits for those and shall not stand behind backups. Calls come from the core's thread, completions from the workers' (or
 * from the caller's when there is no room); their consumer must not block. The price: {@code readers + writers} threads that may hang
 * with a hanging file system, and units of one kind may end in another order than they began.
 */
public final class StoreWorkers implements StoreTransfers, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StoreWorkers.class);
    private static final int MOST_NAMESPACES = 1_000;
    private static final long NANOS_BETWEEN_WARNINGS = 5_000_000_000L;

    /**
     * What bounds the workers.
     *
     * @param readers threads for probes and reads
     * @param writers threads for writes
     * @param queuePieces pieces that wait, per kind of worker
     * @param pieceObjects objects in one piece
     */
    public record Limits(int readers, int writers, int queuePieces, int pieceObjects) {
        /** 4 readers, 2 writers, 4,096 pieces of 16 objects. */
        public static final Limits DEFAULTS = new Limits(4, 2, 4_096, 16);

        public Limits {
            if (readers < 1 || writers < 1 || queuePieces < 1 || pieceObjects < 1) {
                throw new IllegalArgumentException("store limits are 1 or more: readers " + readers + ", writers " + writers
                        + ", queuePieces " + queuePieces + ", pieceObjects " + pieceObjects);
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
    private final BoundedWorkers readers;
    private final BoundedWorkers writers;
    private final AtomicLong warnedAtNs = new AtomicLong(System.nanoTime() - NANOS_BETWEEN_WARNINGS);
    private final Map<String, Bytes> digests = Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Bytes> eldest) {
            return size() > MOST_NAMESPACES;
        }
    });

    /**
     * @param name begins the names of the threads
     * @param completions hears of every unit, once
     */
    public StoreWorkers(String name, SharedStore store, HostPool host, Limits limits, Consumer<AgentInput> completions) {
        this.store = store;
        this.host = host;
        this.limits = limits;
        this.completions = completions;
        this.readers = new BoundedWorkers(name + "-store-read", limits.readers(), limits.queuePieces());
        this.writers = new BoundedWorkers(name + "-store-write", limits.writers(), limits.queuePieces());
    }

    @Override
    public void probe(long unit, String namespace, List<Bytes> keys) {
        Bytes digest = digest(namespace);
        boolean queued = readers.submit(List.of(ran -> completions.accept(ran ? probed(unit, digest, keys) : unasked(unit))));
        if (!queued) {
            completions.accept(unasked(unit));
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

    /** Lets pieces under way end, answers the rest with CANCELLED, and returns when no byte moves any more. */
    @Override
    public void close() {
        readers.close();
        writers.close();
    }

    private StoreProbed probed(long unit, Bytes namespace, List<Bytes> keys) {
        int present = 0;
        for (Bytes key : keys) {
            switch (store.probe(new ObjectName(namespace, key))) {
                case PRESENT -> present++;
                case ABSENT -> {
                    return new StoreProbed(unit, present, true);
                }
                case UNREACHABLE -> {
                    return unasked(unit);
                }
            }
        }
        return new StoreProbed(unit, present, true);
    }

    private static StoreProbed unasked(long unit) {
        return new StoreProbed(unit, 0, false);
    }

    private void move(BoundedWorkers workers, long unit, String namespace, List<PageObject> objects, Mover mover) {
        int pieces = Math.ceilDiv(objects.size(), limits.pieceObjects());
        if (pieces == 0) {
            completions.accept(new StoreUnitEnded(unit, List.of()));
            return;
        }
        Bytes digest = digest(namespace);
        UnitResult[] results = new UnitResult[objects.size()];
        AtomicInteger open = new AtomicInteger(pieces);
        List<BoundedWorkers.Piece> work = new java.util.ArrayList<>(pieces);
        for (int piece = 0; piece < pieces; piece++) {
            int from = piece * limits.pieceObjects();
            int to = Math.min(objects.size(), from + limits.pieceObjects());
            work.add(ran -> {
                for (int i = from; i < to; i++) {
                    results[i] = ran ? one(digest, objects.get(i), mover) : failed(OperationReason.CANCELLED);
                }
                // The counter also hands the results of this worker to the one that posts them.
                if (open.decrementAndGet() == 0) {
                    completions.accept(new StoreUnitEnded(unit, Arrays.asList(results)));
                }
            });
        }
        if (!workers.submit(work)) {
            completions.accept(new StoreUnitEnded(unit, Collections.nCopies(objects.size(), failed(OperationReason.QUEUE_FULL))));
        }
    }

    private UnitResult one(Bytes namespace, PageObject object, Mover mover) {
        SharedStore.Result result;
        try {
            result = mover.move(new ObjectName(namespace, object.key()), object);
        } catch (RuntimeException e) {
            // The port does not throw; a defect of a store must not leave the unit without an end.
            LOG.error("the store threw on object {}", object.key(), e);
            return failed(OperationReason.IO);
        }
        if (result.status() == BlockStatus.FAILED && result.reason() != OperationReason.NOT_FOUND) {
            warn(result.detail());
        }
        return new UnitResult(result.status(), result.reason(), result.crc32c());
    }

    /** A store that is gone fails every object; one line in five seconds says enough. */
    private void warn(String detail) {
        long last = warnedAtNs.get();
        long now = System.nanoTime();
        if (now - last >= NANOS_BETWEEN_WARNINGS && warnedAtNs.compareAndSet(last, now)) {
            LOG.warn("store: {} (further failures within 5 s are not shown)", detail);
        }
    }

    private static UnitResult failed(OperationReason reason) {
        return new UnitResult(BlockStatus.FAILED, reason, 0);
    }

    private Bytes digest(String namespace) {
        return digests.computeIfAbsent(namespace, ObjectName::digest);
    }
}
