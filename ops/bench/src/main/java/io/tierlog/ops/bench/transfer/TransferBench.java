/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.ops.bench.BenchException;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Device;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Tier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Runs the transfer benchmark: tier after tier, and in each all ways in turns, in rounds, so that whatever else the machine does hits all of them
 * alike; the ratios are what counts. Before the first round there is one that is not measured, for the compiler and for fresh memory.
 */
public final class TransferBench {
    private static final String NO_FIO = "fio: not run, apt-get install fio";

    private final TransferBenchConfig config;
    private final Consumer<String> progress;
    private final List<TransferReport.Tier> tiers = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    private TransferBench(TransferBenchConfig config, Consumer<String> progress) {
        this.config = config;
        this.progress = progress;
    }

    /**
     * Runs it; takes some seconds to minutes.
     *
     * @param progress is told in a few words what happens
     * @throws BenchException when it cannot be run, or bytes did not arrive as they were sent
     */
    public static TransferReport run(TransferBenchConfig config, Consumer<String> progress) {
        long start = System.nanoTime();
        TransferBench bench = new TransferBench(config, progress);
        try {
            bench.all();
        } catch (IOException e) {
            throw BenchException.failed("files of the benchmark cannot be used: " + e, "look at the disk, or name other directories").causedBy(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw BenchException.failed("the benchmark was interrupted", "run it again").causedBy(e);
        }
        double elapsed = (System.nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1);
        return new TransferReport(
                List.copyOf(bench.tiers),
                List.copyOf(bench.notes),
                config.shape().blockBytes(),
                config.shape().blocks(),
                config.shape().depth(),
                config.rounds(),
                TransferReport.round(elapsed));
    }

    private void all() throws IOException, InterruptedException {
        try (Workplace place = new Workplace(config)) {
            Optional<Fio> fio = fio(place);
            try (HostBlocks host = new HostBlocks(config.shape())) {
                measure(new ChecksumCourse(host));
                if (config.tiers().contains(Tier.device)) {
                    device(host, place);
                }
                if (config.tiers().contains(Tier.disk)) {
                    measure(new DiskCourse(host, place.disk(), fio, config.fio()));
                }
                if (config.tiers().contains(Tier.store)) {
                    measure(new StoreCourse(host, place.store(), fio));
                }
            }
        }
    }

    private Optional<Fio> fio(Workplace place) throws IOException, InterruptedException {
        if (config.tiers().equals(Set.of(Tier.device))) {
            return Optional.empty();
        }
        Optional<Fio> fio = Fio.find();
        fio.ifPresentOrElse(place::kill, () -> notes.add(NO_FIO));
        return fio;
    }

    private void device(HostBlocks host, Workplace place) throws IOException, InterruptedException {
        Map<String, KvLayout> layouts = DeviceLayouts.of(config.shape());
        if (layouts.size() == 1) {
            notes.add("layouts of " + DeviceLayouts.LAYERS + " layers: not run, --block-bytes is no multiple of " + 2 * DeviceLayouts.LAYERS);
        }
        for (Map.Entry<String, KvLayout> layout : layouts.entrySet()) {
            try (BenchDevice device = device(place)) {
                measure(DeviceCourse.open(layout.getKey(), layout.getValue(), host, device));
            } finally {
                place.clearMemory();
            }
        }
    }

    private BenchDevice device(Workplace place) {
        return config.device() == Device.cuda ? CudaBenchDevice.start() : new EmulatedBenchDevice(place.memory().path());
    }

    private void measure(Course measured) throws IOException, InterruptedException {
        try (Course course = measured) {
            progress.accept(course.title());
            List<Contest> contests = course.contests();
            Map<Way, Series> runs = new LinkedHashMap<>();
            for (int round = 0; round <= config.rounds(); round++) {
                progress.accept(round == 0 ? "  warming up" : "  round " + round + "/" + config.rounds());
                course.beginRound();
                for (Contest contest : contests) {
                    for (Way way : contest.turn(round)) {
                        Sample sample = way.run().sample();
                        if (round > 0) {
                            runs.computeIfAbsent(way, any -> new Series()).add(sample);
                        }
                    }
                }
                course.endRound();
            }
            tiers.add(new TransferReport.Tier(
                    course.title(), contests.stream().map(contest -> TransferReport.direction(contest, runs)).toList()));
        }
    }
}
