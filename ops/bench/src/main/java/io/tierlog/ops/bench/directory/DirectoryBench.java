/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.bench.broker.BrokerProcess;
import io.tierlog.ops.bench.broker.TemporaryDirectory;
import io.tierlog.ops.bench.report.BenchException;
import io.tierlog.ops.bench.report.Cleanup;
import io.tierlog.ops.bench.report.Report;
import io.tierlog.ops.bench.report.Row;
import io.tierlog.ops.bench.server.RedisProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Runs the directory benchmark: a broker, a directory and Redis, each a process, filled with the same blocks and queried with the same batches in
 * turn. One thread; it removes its files at its end.
 */
public final class DirectoryBench {
    private static final int DIRECTORY_HEAP_MB = 1_024;
    private static final int SET_KEYS = 1_000;
    private static final long LOAD_NS = TimeUnit.MINUTES.toNanos(30);

    private final DirectoryBenchConfig config;
    private final Consumer<String> progress;

    /** A path, and the processor time that its server has used so far. */
    private record Measured(QueryPath path, LongSupplier cpuNs) {}

    private DirectoryBench(DirectoryBenchConfig config, Consumer<String> progress) {
        this.config = config;
        this.progress = progress;
    }

    /**
     * Runs it.
     *
     * @param progress receives a few words on each step
     * @throws BenchException when it cannot be run
     */
    public static Report run(DirectoryBenchConfig config, Consumer<String> progress) throws Exception {
        long begin = System.nanoTime();
        DirectoryBench bench = new DirectoryBench(config, progress);
        List<Row> rounds = new ArrayList<>();
        String redis = "NOT RUN: left out";
        for (int blocks : config.blocks()) {
            // New servers for each number of blocks, so that nothing of the last round is left in memory.
            TemporaryDirectory directory = TemporaryDirectory.create();
            try (Cleanup _ = Cleanup.of(directory::closeUnderWriters);
                    Servers servers = new Servers(config, directory, progress)) {
                redis = servers.redis.map(RedisProcess::version).orElse(config.redis() ? "Redis NOT RUN: apt-get install redis-server" : redis);
                rounds.add(bench.round(servers, blocks));
            }
        }
        return DirectoryReport.of(rounds, config.clients(), redis, (System.nanoTime() - begin) / 1e9);
    }

    /** The servers of a round. */
    private static final class Servers implements AutoCloseable {
        private final Path directory;
        private final BrokerProcess broker;
        private final Topics topics = new Topics("bench");
        private final KafkaAccess access;
        private final Optional<RedisProcess> redis;
        private final DirectoryProcess process;

        Servers(DirectoryBenchConfig config, TemporaryDirectory directory, Consumer<String> progress) throws IOException, InterruptedException {
            this.directory = directory.path();
            progress.accept("starting a broker, a directory" + (config.redis() ? " and Redis" : ""));
            broker = BrokerProcess.start(directory.resolve("kafka"));
            access = KafkaAccess.of(broker.bootstrapServers());
            try {
                try (TopicAdmin admin = new TopicAdmin(access)) {
                    admin.create(topics, config.partitions(), 1);
                }
                redis = config.redis() ? RedisProcess.start(directory.resolve("redis")) : Optional.empty();
                process = DirectoryProcess.start(access.bootstrapServers(), topics.prefix(), directory.resolve("directory"), DIRECTORY_HEAP_MB);
            } catch (RuntimeException | IOException | InterruptedException e) {
                broker.close();
                throw e;
            }
        }

        @Override
        public void close() {
            process.close();
            redis.ifPresent(RedisProcess::close);
            broker.close();
        }
    }

    private Row round(Servers servers, int blocks) throws Exception {
        double loadS = load(servers, blocks);
        Double redisBytes = servers.redis.isPresent() ? fill(servers.redis.get(), blocks) : null;
        List<Row> rows = new ArrayList<>();
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", servers.process.grpcPort()).usePlaintext().build();
        try (HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            warm(servers, channel, http, blocks);
            for (boolean lookup : new boolean[] {false, true}) {
                for (int present : config.present()) {
                    for (int batch : config.batches()) {
                        rows.addAll(cell(servers, paths(servers, channel, http, lookup), new LoadLoop.Cell(blocks, batch, present,
                                config.clients(), config.cellMs()), lookup));
                    }
                }
            }
        } finally {
            channel.shutdownNow();
        }
        DirectoryProcess.Size size = servers.process.size();
        double resident = (double) servers.process.residentBytes() / blocks;
        servers.process.close();
        double disk = (double) bytes(servers.directory.resolve("directory").resolve("state")) / blocks;
        return new Row()
                .with("blocks", blocks)
                .with("load_s", loadS)
                .with("index_bytes_per_block", (double) size.indexBytes() / blocks)
                .with("resident_bytes_per_block", resident)
                .with("disk_bytes_per_block", disk)
                .with("redis_bytes_per_block", redisBytes)
                .with("rows", rows);
    }

    /** Compiles every path on both sides before the first measurement; a JVM needs seconds for this, more than a cell has. */
    private void warm(Servers servers, ManagedChannel channel, HttpClient http, int blocks) throws Exception {
        progress.accept("warming up");
        for (boolean lookup : new boolean[] {false, true}) {
            for (int batch : config.batches()) {
                LoadLoop.Cell cell = new LoadLoop.Cell(blocks, batch, 50, config.clients(), config.cellMs());
                servers.process.run(cell, lookup);
                for (Measured each : paths(servers, channel, http, lookup)) {
                    LoadLoop.run(each.path(), cell);
                }
            }
        }
    }

    private double load(Servers servers, int blocks) throws InterruptedException {
        long begin = System.nanoTime();
        progress.accept("writing " + blocks + " placements");
        PlacementLoad.write(servers.access, servers.topics, config.partitions(), blocks, progress);
        long reported = System.nanoTime();
        for (long held = servers.process.size().blocks(); held < blocks; held = servers.process.size().blocks()) {
            if (System.nanoTime() - reported > TimeUnit.SECONDS.toNanos(10)) {
                reported = System.nanoTime();
                progress.accept("the directory holds " + held + " of " + blocks + " blocks");
            }
            if (System.nanoTime() - begin > LOAD_NS) {
                throw BenchException.failed("the directory holds " + held + " of " + blocks + " blocks after half an hour", "give fewer --blocks");
            }
            LockSupport.parkNanos(50_000_000);
        }
        return (System.nanoTime() - begin) / 1e9;
    }

    private Double fill(RedisProcess redis, int blocks) throws IOException {
        progress.accept("filling Redis with " + blocks + " keys");
        try (RedisSession session = new RedisSession(redis.port(), RedisSession.Command.MGET)) {
            long before = session.memory("used_memory");
            for (int first = 0; first < blocks; first += SET_KEYS) {
                int count = Math.min(SET_KEYS, blocks - first);
                ByteBuffer keys = ByteBuffer.allocate(count * Keys.BYTES);
                for (int i = 0; i < count; i++) {
                    Keys.put(keys, first + i);
                }
                session.set(keys.array(), "worker-7/HOST".getBytes(StandardCharsets.US_ASCII));
            }
            return (double) (session.memory("used_memory") - before) / blocks;
        }
    }

    private static List<Measured> paths(Servers servers, ManagedChannel channel, HttpClient http, boolean lookup) {
        List<Measured> all = new ArrayList<>();
        all.add(new Measured(QueryPaths.grpc(channel, lookup), servers.process::cpuNs));
        all.add(new Measured(QueryPaths.grpcStream(channel, lookup), servers.process::cpuNs));
        all.add(new Measured(QueryPaths.http(http, servers.process.httpPort(), lookup), servers.process::cpuNs));
        servers.redis.ifPresent(redis -> {
            if (!lookup) {
                all.add(new Measured(QueryPaths.redisExists(redis.port()), redis::cpuNs));
            }
            all.add(new Measured(QueryPaths.redisMget(redis.port(), lookup), redis::cpuNs));
        });
        return all;
    }

    private List<Row> cell(Servers servers, List<Measured> paths, LoadLoop.Cell cell, boolean lookup) throws Exception {
        String operation = lookup ? "lookup" : "exist";
        progress.accept(String.format(Locale.ROOT, "%s, batches of %d, %d %% present", operation, cell.batch(), cell.present()));
        List<Row> rows = new ArrayList<>();
        long before = servers.process.cpuNs();
        LoadLoop.Outcome inside = servers.process.run(cell, lookup);
        rows.add(row(operation, cell, "in process", inside, servers.process.cpuNs() - before));
        for (Measured each : paths) {
            before = each.cpuNs().getAsLong();
            LoadLoop.Outcome outcome = LoadLoop.run(each.path(), cell);
            rows.add(row(operation, cell, each.path().name(), outcome, each.cpuNs().getAsLong() - before));
        }
        return rows;
    }

    /** The processor time includes the warm-up, so the keys of the warm-up are counted too, at the same rate. */
    private static Row row(String operation, LoadLoop.Cell cell, String path, LoadLoop.Outcome outcome, long cpuNs) {
        double seconds = cell.cellMs() * 1.25 / 1e3;
        double perCore = cpuNs == 0 ? 0 : outcome.keysPerS() * seconds * 1e9 / cpuNs;
        return new Row()
                .with("ask", operation)
                .with("batch", cell.batch())
                .with("present", cell.present())
                .with("way", path)
                .with("keys_per_s", outcome.keysPerS())
                .with("keys_per_core_s", perCore)
                .with("p50_us", outcome.p50Us())
                .with("p99_us", outcome.p99Us())
                .with("wrong", outcome.wrong());
    }

    private static long bytes(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
