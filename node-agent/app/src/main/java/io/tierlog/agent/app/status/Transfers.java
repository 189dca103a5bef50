/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.status;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.CopiesEnded;
import io.tierlog.agent.core.api.AgentInput.DiskUnitEnded;
import io.tierlog.agent.core.api.AgentInput.PeerReadFinished;
import io.tierlog.agent.core.api.AgentInput.PeerUnitEnded;
import io.tierlog.agent.core.api.AgentInput.StoreProbed;
import io.tierlog.agent.core.api.AgentInput.StoreUnitEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.DeviceCopies;
import io.tierlog.agent.core.port.DiskTransfers;
import io.tierlog.agent.core.port.PeerTransfers;
import io.tierlog.agent.core.port.StoreTransfers;
import io.tierlog.controller.http.HealthParts;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * Measures the transfers of an agent between the core and its ports: bytes, blocks and time by tier and direction, and what is under way. Units begin
 * on the core's thread and end on the ports' threads; both only touch adders and one entry of a concurrent map. Safe for use by several threads.
 *
 * <p>Trade-off: the time of a unit is that from its queueing to its end, so it holds the time in the queue of the port.
 */
public final class Transfers {
    private static final double[] SECONDS = {
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10
    };
    private static final int MOST_BUCKETS = 80;
    /** Failed units in a row after which the tier is reported at /health. */
    private static final int MOST_FAILED = 3;

    /** A tier, and the direction of its bytes as the host pages see it. */
    private enum Way {
        DEVICE_IN("device", "to_host"),
        DEVICE_OUT("device", "from_host"),
        DISK_IN("disk", "to_host"),
        DISK_OUT("disk", "from_host"),
        STORE_IN("store", "to_host"),
        STORE_OUT("store", "from_host"),
        PEER_IN("peer", "to_host");

        private final String tier;
        private final String direction;

        Way(String tier, String direction) {
            this.tier = tier;
            this.direction = direction;
        }
    }

    private record Begun(Way way, int blocks, long atNs) {}

    private final long blockBytes;
    private final Map<Long, Begun> begun = new ConcurrentHashMap<>();
    private final Map<Long, Long> probes = new ConcurrentHashMap<>();
    private final Map<Way, Meter> meters = new EnumMap<>(Way.class);
    private final Counter failures;
    private final CounterDataPoint peerBytesSent;
    private final DistributionDataPoint probeTime;

    /** What one way counts; each label is looked up once. */
    private static final class Meter {
        private final DistributionDataPoint time;
        private final CounterDataPoint bytes;
        private final Map<BlockStatus, CounterDataPoint> blocks = new EnumMap<>(BlockStatus.class);
        private final LongAdder queued = new LongAdder();
        private final AtomicInteger failedInRow = new AtomicInteger();

        Meter(Way way, Histogram times, Counter bytes, Counter blocks) {
            this.time = times.labelValues(way.tier, way.direction);
            this.bytes = bytes.labelValues(way.tier, way.direction);
            for (BlockStatus status : BlockStatus.values()) {
                this.blocks.put(status, blocks.labelValues(way.tier, way.direction, status.name().toLowerCase(Locale.ROOT)));
            }
        }
    }

    /**
     * Registers the metrics.
     *
     * @param blockBytes size of a block
     */
    public Transfers(PrometheusRegistry registry, long blockBytes) {
        this.blockBytes = blockBytes;
        Histogram times = histogram("tierlog_agent_transfer_duration_seconds",
                "Time of a unit of a transfer from its queueing to its end, by tier and direction")
                .labelNames("tier", "direction").register(registry);
        Counter bytes = counter(registry, "tierlog_agent_transfer_bytes_total", "Bytes that have arrived, by tier and direction",
                "tier", "direction");
        Counter blocks = counter(registry, "tierlog_agent_transfer_blocks_total", "Blocks of transfers that have ended, by what became of them",
                "tier", "direction", "outcome");
        failures = counter(registry, "tierlog_agent_transfer_failures_total", "Blocks whose transfer failed, by reason",
                "tier", "direction", "reason");
        for (Way way : Way.values()) {
            meters.put(way, new Meter(way, times, bytes, blocks));
            if (way.tier.equals("store")) {
                failures.initLabelValues(way.tier, way.direction, OperationReason.STORE_UNAVAILABLE.name());
            }
            for (OperationReason often : List.of(OperationReason.IO, OperationReason.CHECKSUM, OperationReason.QUEUE_FULL)) {
                failures.initLabelValues(way.tier, way.direction, often.name());
            }
        }
        peerBytesSent = bytes.labelValues("peer", "from_host");
        probeTime = histogram("tierlog_agent_store_probe_duration_seconds", "Time until the store has answered which blocks of a prompt it has")
                .register(registry).labelValues();
        GaugeWithCallback.builder()
                .name("tierlog_agent_transfer_queue_blocks")
                .help("Blocks of transfers that are queued or under way, by tier and direction")
                .labelNames("tier", "direction")
                .callback(callback -> meters.forEach((way, meter) -> callback.call((double) meter.queued.sum(), way.tier, way.direction)))
                .register(registry);
    }

    private static Histogram.Builder histogram(String name, String help) {
        return Histogram.builder().name(name).help(help).classicUpperBounds(SECONDS).nativeMaxNumberOfBuckets(MOST_BUCKETS);
    }

    private static Counter counter(PrometheusRegistry registry, String name, String help, String... labels) {
        return Counter.builder().name(name).help(help).labelNames(labels).register(registry);
    }

    private Meter meter(Way way) {
        return Objects.requireNonNull(meters.get(way));
    }

    /** How the disk and the store answer: DEGRADED after {@value #MOST_FAILED} failed transfers in a row. */
    public HealthParts.State disk() {
        return answers("disk", Way.DISK_IN, Way.DISK_OUT);
    }

    /** The same for the store. */
    public HealthParts.State store() {
        return answers("store", Way.STORE_IN, Way.STORE_OUT);
    }

    private HealthParts.State answers(String tier, Way in, Way out) {
        int failed = Math.max(meter(in).failedInRow.get(), meter(out).failedInRow.get());
        return failed < MOST_FAILED ? HealthParts.State.WELL
                : HealthParts.State.degraded(
                        "the last " + failed + " transfers from or to the " + tier + " failed: an input/output error, or it is away");
    }

    private void begins(Way way, long unit, int blocks) {
        begun.put(unit, new Begun(way, blocks, System.nanoTime()));
        meter(way).queued.add(blocks);
    }

    private void ended(long unit, List<UnitResult> results) {
        Begun begin = begun.remove(unit);
        if (begin == null) {
            return; // A drop, or a unit in doubt that is reported for the second time.
        }
        Meter meter = meter(begin.way());
        meter.queued.add(-begin.blocks());
        meter.time.observe(seconds(begin.atNs()));
        long arrived = 0;
        boolean fault = false;
        boolean answered = false;
        for (UnitResult result : results) {
            Objects.requireNonNull(meter.blocks.get(result.status())).inc();
            // That an object is there already, or is not there, is an answer too.
            answered |= result.status() == BlockStatus.ARRIVED || result.status() == BlockStatus.ALREADY_THERE
                    || result.reason() == OperationReason.NOT_FOUND;
            if (result.status() == BlockStatus.ARRIVED) {
                arrived++;
            } else if (result.status() == BlockStatus.FAILED) {
                failures.labelValues(begin.way().tier, begin.way().direction, result.reason().name()).inc();
                fault |= result.reason() == OperationReason.IO || result.reason() == OperationReason.STORE_UNAVAILABLE;
            }
        }
        meter.bytes.inc((double) (arrived * blockBytes));
        if (answered) {
            meter.failedInRow.set(0);
        } else if (fault) {
            meter.failedInRow.incrementAndGet();
        }
    }

    private static double seconds(long sinceNs) {
        return (double) (System.nanoTime() - sinceNs) / TimeUnit.SECONDS.toNanos(1);
    }

    // --- between core and ports

    /** Measures what ends on its way to {@code loop}. */
    public Consumer<AgentInput> ends(Consumer<AgentInput> loop) {
        return input -> {
            switch (input) {
                case CopiesEnded end -> ended(end.unit(), end.results());
                case StoreUnitEnded end -> ended(end.unit(), end.results());
                case DiskUnitEnded end -> ended(end.unit(), end.results());
                case PeerUnitEnded end -> ended(end.unit(), end.results());
                case PeerReadFinished end -> peerBytesSent.inc((double) Math.max(0, end.sentBytes()));
                case StoreProbed end -> probed(end.unit());
                default -> { }
            }
            loop.accept(input);
        };
    }

    private void probed(long unit) {
        Long since = probes.remove(unit);
        if (since != null) {
            probeTime.observe(seconds(since));
        }
    }

    /** Measures what begins on its way to {@code device}. */
    public DeviceCopies measured(DeviceCopies device) {
        return new DeviceCopies() {
            @Override
            public void save(long unit, List<PageCopy> copies) {
                begins(Way.DEVICE_IN, unit, copies.size());
                device.save(unit, copies);
            }

            @Override
            public void load(long unit, List<PageCopy> copies) {
                begins(Way.DEVICE_OUT, unit, copies.size());
                device.load(unit, copies);
            }

            @Override
            public void detach() {
                device.detach();
            }
        };
    }

    /** Measures what begins on its way to {@code store}; deletes move no bytes and are not measured. */
    public StoreTransfers measured(StoreTransfers store) {
        return new StoreTransfers() {
            @Override
            public void probe(long unit, String namespace, List<Bytes> keys) {
                probes.put(unit, System.nanoTime());
                store.probe(unit, namespace, keys);
            }

            @Override
            public void cancelProbe(long unit) {
                store.cancelProbe(unit);
            }

            @Override
            public void read(long unit, String namespace, List<PageObject> objects) {
                begins(Way.STORE_IN, unit, objects.size());
                store.read(unit, namespace, objects);
            }

            @Override
            public void write(long unit, String namespace, List<PageObject> objects) {
                begins(Way.STORE_OUT, unit, objects.size());
                store.write(unit, namespace, objects);
            }

            @Override
            public void delete(long unit, String namespace, List<StoredObject> objects) {
                store.delete(unit, namespace, objects);
            }
        };
    }

    /** Measures what begins on its way to {@code disk}; drops move no bytes and are not measured. */
    public DiskTransfers measured(DiskTransfers disk) {
        return new DiskTransfers() {
            @Override
            public void write(long unit, String namespace, List<PageWrite> blocks) {
                begins(Way.DISK_OUT, unit, blocks.size());
                disk.write(unit, namespace, blocks);
            }

            @Override
            public void read(long unit, String namespace, List<PageRead> blocks) {
                begins(Way.DISK_IN, unit, blocks.size());
                disk.read(unit, namespace, blocks);
            }

            @Override
            public void drop(long unit, String namespace, List<DiskObject> blocks) {
                disk.drop(unit, namespace, blocks);
            }
        };
    }

    /** Measures what begins on its way to {@code peers}. */
    public PeerTransfers measured(PeerTransfers peers) {
        return (unit, holder, namespace, pages) -> {
            begins(Way.PEER_IN, unit, pages.size());
            peers.read(unit, holder, namespace, pages);
        };
    }
}
