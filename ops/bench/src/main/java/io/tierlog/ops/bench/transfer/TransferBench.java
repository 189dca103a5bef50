/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.bench.report.Report;
import io.tierlog.ops.bench.report.Row;
import io.tierlog.ops.bench.server.RedisProcess;
import io.tierlog.ops.bench.server.S3MockProcess;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Device;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Tier;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Runs the transfer benchmark: tier after tier, and in each all variants in turn, in rounds, so that other work on the machine slows all of them
 * alike; the ratios count. A first round is not measured, for the compiler and for fresh memory.
 */
public final class TransferBench {
    private static final String NO_FIO = "fio: not run, apt-get install fio";
    private static final String NO_S3 = "s3: NOT RUN, needs --s3mock JAR; a build with tests has it in node-agent/app/target/s3mock/s3mock.jar";
    private static final String NO_REDIS = "redis: NOT RUN, apt-get install redis-server";
    private static final String NO_REDIS_BENCHMARK = "redis-benchmark: NOT RUN, apt-get install redis-tools";

    private final TransferBenchConfig config;
    private final Consumer<String> progress;
    private final List<Row> tiers = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    private TransferBench(TransferBenchConfig config, Consumer<String> progress) {
        this.config = config;
        this.progress = progress;
    }

    /**
     * Runs it; takes some seconds to minutes.
     *
     * @param progress receives a few words on each step
     * @throws BenchException when it cannot be run, or bytes changed on the way
     */
    public static Report run(TransferBenchConfig config, Consumer<String> progress) {
        long start = System.nanoTime();
        TransferBench bench = new TransferBench(config, progress);
        try {
            bench.all();
        } catch (IOException e) {
            throw BenchException.failed("the benchmark cannot use its files: " + e, "look at the disk, or name other directories").causedBy(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw BenchException.failed("the benchmark was interrupted", "run it again").causedBy(e);
        }
        double elapsed = (System.nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1);
        return TransferReport.of(config, bench.tiers, bench.notes, elapsed);
    }

    private void all() throws IOException, InterruptedException {
        try (WorkDirectories place = new WorkDirectories(config)) {
            Optional<Fio> fio = fio(place);
            try (HostBlocks host = new HostBlocks(config.shape())) {
                measure(new ChecksumBench(host));
                if (config.tiers().contains(Tier.device)) {
                    device(host, place);
                }
                if (config.tiers().contains(Tier.disk)) {
                    measure(new DiskBench(host, place.disk(), fio, config.fio()));
                }
                if (config.tiers().contains(Tier.store)) {
                    measure(new StoreBench(host, place.store(), fio));
                }
                if (config.tiers().contains(Tier.s3)) {
                    s3(host, place);
                }
                if (config.tiers().contains(Tier.redis)) {
                    redis(host, place);
                }
            }
        }
    }

    private Optional<Fio> fio(WorkDirectories place) throws InterruptedException {
        if (!config.tiers().contains(Tier.disk) && !config.tiers().contains(Tier.store)) {
            return Optional.empty();
        }
        Optional<Fio> fio = Fio.find();
        fio.ifPresentOrElse(found -> place.endWith(found::close), () -> notes.add(NO_FIO));
        return fio;
    }

    private void s3(HostBlocks host, WorkDirectories place) throws IOException, InterruptedException {
        Optional<Path> program = config.places().s3mock();
        if (program.isEmpty()) {
            notes.add(NO_S3);
            return;
        }
        progress.accept("starting S3Mock");
        try (S3MockProcess server = S3MockProcess.start(program.get(), place.store().resolve("s3"))) {
            place.endWith(server::close);
            measure(new S3Bench(host, server));
        }
    }

    private void redis(HostBlocks host, WorkDirectories place) throws IOException, InterruptedException {
        Optional<RedisProcess> started = RedisBench.start(host.shape(), place.disk().resolve("redis"));
        if (started.isEmpty()) {
            notes.add(NO_REDIS);
            return;
        }
        try (RedisProcess server = started.get()) {
            place.endWith(server::close);
            Optional<RedisBenchmark> tool = RedisBenchmark.find();
            tool.ifPresentOrElse(found -> place.endWith(found::close), () -> notes.add(NO_REDIS_BENCHMARK));
            measure(new RedisBench(host, server, tool));
        }
    }

    private void device(HostBlocks host, WorkDirectories place) throws IOException, InterruptedException {
        Map<String, KvLayout> layouts = DeviceLayouts.of(config.shape());
        if (layouts.size() == 1) {
            notes.add("layouts of " + DeviceLayouts.LAYERS + " layers: not run, --block-bytes is not a multiple of " + 2 * DeviceLayouts.LAYERS);
        }
        for (Map.Entry<String, KvLayout> layout : layouts.entrySet()) {
            try (BenchDevice device = device(place)) {
                measure(DeviceBench.open(layout.getKey(), layout.getValue(), host, device));
            } finally {
                place.clearMemory();
            }
        }
    }

    private BenchDevice device(WorkDirectories place) {
        return config.device() == Device.cuda ? CudaBenchDevice.start() : new EmulatedBenchDevice(place.memory().path());
    }

    private void measure(TierBench measured) throws IOException, InterruptedException {
        try (TierBench tier = measured) {
            progress.accept(tier.title());
            List<Comparison> comparisons = tier.comparisons();
            Map<Variant, Series> runs = new LinkedHashMap<>();
            for (int round = 0; round <= config.rounds(); round++) {
                progress.accept(round == 0 ? "  warming up" : "  round " + round + "/" + config.rounds());
                tier.beginRound();
                for (Comparison comparison : comparisons) {
                    for (Variant variant : comparison.turn(round)) {
                        Sample sample = variant.run().sample();
                        if (round > 0) {
                            runs.computeIfAbsent(variant, any -> new Series()).add(sample);
                        }
                    }
                }
                tier.endRound();
            }
            tiers.add(new Row().with("title", tier.title()).with("directions", comparisons.stream().map(each -> each.report(runs)).toList()));
        }
    }
}
