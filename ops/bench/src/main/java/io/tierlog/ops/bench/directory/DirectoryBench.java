/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.TopicAdmin;
import io.tierlog.events.Topics;
import io.tierlog.ops.bench.BenchException;
import io.tierlog.ops.bench.broker.BrokerProcess;
import io.tierlog.ops.bench.broker.TemporaryDirectory;
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
 * Runs the directory benchmark: a broker, a directory and Redis, each a process, filled with the same blocks and asked the same batches in turn.
 * One thread; what it makes is removed at its end.
 */
public final class DirectoryBench {
    private static final int DIRECTORY_HEAP_MB = 1_024;
    private static final int SET_KEYS = 1_000;
    private static final long LOAD_NS = TimeUnit.MINUTES.toNanos(30);

    private final DirectoryBenchConfig config;
    private final Consumer<String> progress;

    /** One way and how much processor its server has used so far. */
    private record Contestant(Way way, LongSupplier cpuNs) {}

    private DirectoryBench(DirectoryBenchConfig config, Consumer<String> progress) {
        this.config = config;
        this.progress = progress;
    }

    /**
     * Runs it.
     *
     * @param progress hears of each step
     * @throws BenchException when something is not there that is needed
     */
    public static DirectoryReport run(DirectoryBenchConfig config, Consumer<String> progress) throws Exception {
        long begin = System.nanoTime();
        DirectoryBench bench = new DirectoryBench(config, progress);
        List<DirectoryReport.Round> rounds = new ArrayList<>();
        String redis = "NOT RUN: left out";
        for (int blocks : config.blocks()) {
            // Made anew for each number of blocks, so that nothing of the last round is left in memory.
            try (TemporaryDirectory directory = TemporaryDirectory.create("tierlog-bench-")) {
                Thread signalled = new Thread(directory::closeUnderWriters, "bench-signalled");
                Runtime.getRuntime().addShutdownHook(signalled);
                try (Servers servers = new Servers(config, directory, progress)) {
                    redis = servers.redis.map(RedisProcess::version).orElse(config.redis() ? "Redis NOT RUN: apt-get install redis-server" : redis);
                    rounds.add(bench.round(servers, blocks));
                } finally {
                    Runtime.getRuntime().removeShutdownHook(signalled);
                }
            }
        }
        return new DirectoryReport(rounds, config.clients(), redis, (System.nanoTime() - begin) / 1e9);
    }

    /** What is asked, and what it is filled from. */
    private static final class Servers implements AutoCloseable {
        private final Path directory;
        private final BrokerProcess broker;
        private final Topics topics = new Topics("bench");
        private final KafkaAccess access;
        private final Optional<RedisProcess> redis;
        private final DirectoryProcess asked;

        Servers(DirectoryBenchConfig config, TemporaryDirectory directory, Consumer<String> progress) throws IOException {
            this.directory = directory.path();
            progress.accept("starting a broker, a directory" + (config.redis() ? " and Redis" : ""));
            broker = BrokerProcess.start(directory.resolve("kafka"));
            access = KafkaAccess.of(broker.bootstrapServers());
            try {
                try (TopicAdmin admin = new TopicAdmin(access)) {
                    admin.create(topics, config.partitions(), 1);
                }
                redis = config.redis() ? RedisProcess.start(directory.resolve("redis")) : Optional.empty();
                asked = DirectoryProcess.start(access.bootstrapServers(), topics.prefix(), directory.resolve("directory"), DIRECTORY_HEAP_MB);
            } catch (RuntimeException | IOException e) {
                broker.close();
                throw e;
            }
        }

        @Override
        public void close() {
            asked.close();
            redis.ifPresent(RedisProcess::close);
            broker.close();
        }
    }

    private DirectoryReport.Round round(Servers servers, int blocks) throws Exception {
        double loadS = load(servers, blocks);
        Double redisBytes = servers.redis.isPresent() ? fill(servers.redis.get(), blocks) : null;
        List<DirectoryReport.Row> rows = new ArrayList<>();
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", servers.asked.grpcPort()).usePlaintext().build();
        try (HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            warm(servers, channel, http, blocks);
            for (boolean lookup : new boolean[] {false, true}) {
                for (int present : config.present()) {
                    for (int batch : config.batches()) {
                        rows.addAll(cell(servers, contestants(servers, channel, http, lookup), new Drive.Cell(blocks, batch, present,
                                config.clients(), config.cellMs()), lookup));
                    }
                }
            }
        } finally {
            channel.shutdownNow();
        }
        long[] size = servers.asked.size();
        double resident = (double) servers.asked.residentBytes() / blocks;
        servers.asked.close();
        double disk = (double) bytes(servers.directory.resolve("directory").resolve("state")) / blocks;
        return new DirectoryReport.Round(blocks, loadS, (double) size[1] / blocks, resident, disk, redisBytes, rows);
    }

    /** Compilers on both sides get to know every way before the first of them is measured; for a JVM that is seconds, not what a cell has. */
    private void warm(Servers servers, ManagedChannel channel, HttpClient http, int blocks) throws Exception {
        progress.accept("warming up");
        for (boolean lookup : new boolean[] {false, true}) {
            for (int batch : config.batches()) {
                Drive.Cell cell = new Drive.Cell(blocks, batch, 50, config.clients(), config.cellMs());
                servers.asked.run(cell, lookup);
                for (Contestant contestant : contestants(servers, channel, http, lookup)) {
                    Drive.run(contestant.way(), cell);
                }
            }
        }
    }

    private double load(Servers servers, int blocks) throws IOException {
        long begin = System.nanoTime();
        progress.accept("writing " + blocks + " placements");
        PlacementLoad.write(servers.access, servers.topics, config.partitions(), blocks, progress);
        long told = System.nanoTime();
        for (long held = servers.asked.size()[0]; held < blocks; held = servers.asked.size()[0]) {
            if (System.nanoTime() - told > TimeUnit.SECONDS.toNanos(10)) {
                told = System.nanoTime();
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

    private static List<Contestant> contestants(Servers servers, ManagedChannel channel, HttpClient http, boolean lookup) {
        List<Contestant> all = new ArrayList<>();
        all.add(new Contestant(Ways.grpc(channel, lookup), servers.asked::cpuNs));
        all.add(new Contestant(Ways.grpcStream(channel, lookup), servers.asked::cpuNs));
        all.add(new Contestant(Ways.http(http, servers.asked.httpPort(), lookup), servers.asked::cpuNs));
        servers.redis.ifPresent(redis -> {
            if (!lookup) {
                all.add(new Contestant(Ways.redisExists(redis.port()), redis::cpuNs));
            }
            all.add(new Contestant(Ways.redisMget(redis.port(), lookup), redis::cpuNs));
        });
        return all;
    }

    private List<DirectoryReport.Row> cell(Servers servers, List<Contestant> contestants, Drive.Cell cell, boolean lookup) throws Exception {
        String ask = lookup ? "lookup" : "exist";
        progress.accept(String.format(Locale.ROOT, "%s, batches of %d, %d %% present", ask, cell.batch(), cell.present()));
        List<DirectoryReport.Row> rows = new ArrayList<>();
        long before = servers.asked.cpuNs();
        Drive.Outcome inside = servers.asked.run(cell, lookup);
        rows.add(row(ask, cell, "in process", inside, servers.asked.cpuNs() - before));
        for (Contestant contestant : contestants) {
            before = contestant.cpuNs().getAsLong();
            Drive.Outcome outcome = Drive.run(contestant.way(), cell);
            rows.add(row(ask, cell, contestant.way().name(), outcome, contestant.cpuNs().getAsLong() - before));
        }
        return rows;
    }

    /** The processor was used in the time that warms up as well, so the keys of that time are counted with it, at the same pace. */
    private static DirectoryReport.Row row(String ask, Drive.Cell cell, String way, Drive.Outcome outcome, long cpuNs) {
        double seconds = cell.cellMs() * 1.25 / 1e3;
        double perCore = cpuNs == 0 ? 0 : outcome.keysPerS() * seconds * 1e9 / cpuNs;
        return new DirectoryReport.Row(ask, cell.batch(), cell.present(), way, outcome.keysPerS(), perCore, outcome.p50Us(), outcome.p99Us(),
                outcome.wrong());
    }

    private static long bytes(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
