/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.dashboard;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.bench.broker.BrokerProcess;
import io.tierlog.ops.bench.broker.TemporaryDirectory;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.bench.report.Cleanup;
import io.tierlog.ops.bench.report.Report;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Runs the benchmark of the live page: a broker and a page, each a process, a log of busy nodes that this process writes at a rate, and browsers.
 * One thread; it removes its files at its end.
 */
public final class DashboardBench {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int CATCH_UP_S = 1_800;
    private static final int LAST_S = 120;
    private static final int MOST_WARM_UP_S = 15;
    private static final long POLL_NANOS = 250_000_000;

    private final DashboardBenchConfig config;
    private final Consumer<String> progress;
    private final Timeline timeline = new Timeline();
    private final Samples samples = new Samples();

    /** The overview of each second. Safe for use by several threads. */
    static final class Samples {
        private final List<Sample> all = new ArrayList<>();

        synchronized void add(Sample sample) {
            all.add(sample);
        }

        synchronized List<Sample> between(long fromMs, long toMs) {
            return all.stream().filter(sample -> sample.atMs() >= fromMs && sample.atMs() < toMs).toList();
        }

        synchronized long read() {
            return all.isEmpty() ? 0 : all.getLast().read();
        }
    }

    /**
     * One update of the overview.
     *
     * @param atMs when the page was made, milliseconds since 1970
     * @param read records that it had read
     * @param lag how far that was behind the log then
     * @param deliveryMs from then until a browser had it
     */
    record Sample(long atMs, long read, Timeline.Lag lag, long deliveryMs) {}

    /** What one moment of a measurement is. */
    record Moment(long atMs, long nanos, long cpuNs, LoadLog.Written written, DashboardProcess.Memory memory, List<Browsers.Counts> browsers) {}

    /**
     * Reading of the log that was there before.
     *
     * @param records that the page read
     * @param nanos until it had
     * @param cpuNs processor time of the page's process, its start included
     */
    record CatchUp(long records, long nanos, long cpuNs) {}

    /**
     * What was measured.
     *
     * @param catchUp before
     * @param moments begin, middle, end
     * @param samples between the first and the last
     * @param pages what each browser showed
     * @param unread records at the end that the page has not counted, or has counted too many
     * @param load of the machine at begin and end; negative where it is not known
     */
    record Measured(
            OneCore core, int processors, CatchUp catchUp, List<Moment> moments, List<Sample> samples, List<String> pages, long unread,
            List<Double> load) {}

    private DashboardBench(DashboardBenchConfig config, Consumer<String> progress) {
        this.config = config;
        this.progress = progress;
    }

    /**
     * Runs it.
     *
     * @param progress receives a few words on each step
     * @throws BenchException when it cannot be run
     */
    public static Report run(DashboardBenchConfig config, Consumer<String> progress) throws Exception {
        return DashboardReport.of(config, new DashboardBench(config, progress).measured());
    }

    private Measured measured() throws IOException, InterruptedException {
        OneCore core = OneCore.of(config.core());
        TemporaryDirectory directory = TemporaryDirectory.create();
        try (Cleanup _ = Cleanup.of(directory::closeUnderWriters); BrokerProcess broker = BrokerProcess.start(directory.resolve("kafka"))) {
            KafkaAccess access = KafkaAccess.of(broker.bootstrapServers());
            Topics topics = new Topics("bench");
            try (TopicAdmin admin = new TopicAdmin(access)) {
                admin.create(topics, config.nodes().partitions(), 1);
            }
            try (LoadLog log = new LoadLog(access, topics, config.nodes().partitions(), timeline)) {
                PacedLoad load = new PacedLoad(config, log);
                progress.accept("writing the log so far");
                load.past();
                progress.accept("starting the live page on " + core.name());
                try (DashboardProcess page = DashboardProcess.start(
                        access.bootstrapServers(), topics, directory.resolve("dashboard"), config.heapMb(), core)) {
                    return measured(core, page, log, load);
                }
            }
        }
    }

    private Measured measured(OneCore core, DashboardProcess page, LoadLog log, PacedLoad load) throws IOException, InterruptedException {
        CatchUp catchUp = caughtUp(page, log.written().read());
        List<Double> loads = new ArrayList<>(List.of(machineLoad()));
        List<Moment> moments = new ArrayList<>();
        try (Browsers browsers = Browsers.open(page.port(), config.nodes().shape().nodes(), config.browsers(), this::shown)) {
            try (load) {
                load.start();
                int seconds = config.load().seconds();
                progress.accept("warming up");
                watch(page, load, Math.clamp(seconds / 4, 2, MOST_WARM_UP_S));
                progress.accept(String.format(Locale.ROOT, "measuring for %d s", seconds));
                moments.add(moment(page, log, browsers));
                watch(page, load, seconds / 2);
                moments.add(moment(page, log, browsers));
                watch(page, load, seconds - seconds / 2);
                moments.add(moment(page, log, browsers));
            }
            loads.add(machineLoad());
            long written = log.written().read();
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LAST_S);
            while (samples.read() < written && System.nanoTime() < end && page.alive()) {
                LockSupport.parkNanos(POLL_NANOS);
            }
            return new Measured(core, page.processors(), catchUp, moments, samples.between(moments.getFirst().atMs(), moments.getLast().atMs()),
                    browsers.all().stream().map(Browsers.Browser::page).toList(), written - samples.read(), loads);
        }
    }

    private void shown(long madeMs, long read) {
        samples.add(new Sample(madeMs, read, timeline.of(madeMs, read), System.currentTimeMillis() - madeMs));
    }

    private static double machineLoad() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    /** The processor time and the counts are those before the collection. */
    private static Moment moment(DashboardProcess page, LoadLog log, Browsers browsers) throws InterruptedException {
        long atMs = System.currentTimeMillis();
        long nanos = System.nanoTime();
        long cpuNs = page.cpuNs();
        LoadLog.Written written = log.written();
        List<Browsers.Counts> counts = browsers.all().stream().map(Browsers.Browser::counts).toList();
        return new Moment(atMs, nanos, cpuNs, written, page.memory(), counts);
    }

    private static void watch(DashboardProcess page, PacedLoad load, int seconds) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            if (!page.alive()) {
                throw ended(page);
            }
            if (!load.running()) {
                return; // its failure comes with close
            }
            LockSupport.parkNanos(Math.min(left, POLL_NANOS));
        }
    }

    private static BenchException ended(DashboardProcess page) {
        return BenchException.failed("the live page ended: " + page.tail(), "give it more with --heap-mb, or write less");
    }

    private CatchUp caughtUp(DashboardProcess page, long records) throws IOException, InterruptedException {
        long begin = System.nanoTime();
        long reported = begin;
        try (HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            HttpRequest overview = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + page.port() + "/api/overview?minutes=1")).build();
            while (true) {
                HttpResponse<String> response = http.send(overview, HttpResponse.BodyHandlers.ofString());
                long read = response.statusCode() == 200 ? read(JSON.readTree(response.body())) : 0;
                long now = System.nanoTime();
                if (read >= records) {
                    return new CatchUp(records, now - begin, page.cpuNs());
                }
                if (now - begin > TimeUnit.SECONDS.toNanos(CATCH_UP_S)) {
                    throw BenchException.failed("the live page has read " + read + " of " + records + " records in half an hour",
                            "write less before: --past-hours 0, fewer --nodes");
                }
                if (!page.alive()) {
                    throw ended(page);
                }
                if (now - reported > TimeUnit.SECONDS.toNanos(10)) {
                    reported = now;
                    progress.accept("the live page has read " + read + " of " + records + " records");
                }
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
    }

    /** Records that a page had read when it was made. */
    static long read(JsonNode overview) {
        JsonNode records = overview.path("total").path("records");
        return records.path("events").asLong() + records.path("facts").asLong() + records.path("commands").asLong();
    }
}
