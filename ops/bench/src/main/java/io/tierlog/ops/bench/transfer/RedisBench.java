/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.server.RedisProcess;
import io.tierlog.ops.bench.transfer.Fio.Mode;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Shape;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A store in the Redis of this machine, against redis-benchmark with values of the same size and as many connections: one key again and again, whose
 * memory is never fresh, and for writes also random keys, as many as there are blocks.
 */
final class RedisBench extends ServerStoreBench {
    /** Of the server's memory, beside the blocks: those that are staged, buffers of connections, the value of redis-benchmark. */
    private static final long SPARE_BYTES = 1L << 30;

    private final RedisProcess server;
    private final Optional<RedisBenchmark> tool;

    RedisBench(HostBlocks host, RedisProcess server, Optional<RedisBenchmark> tool) {
        super("redis", host, "redis://127.0.0.1:" + server.port() + "/0?prefix=bench");
        this.server = server;
        this.tool = tool;
    }

    /** The server, bounded as the documentation of the store asks; empty where it is not installed. */
    static Optional<RedisProcess> start(Shape shape, Path directory) throws IOException, InterruptedException {
        return RedisProcess.start(
                directory, "--maxmemory", String.valueOf(2 * shape.bytes() + SPARE_BYTES), "--maxmemory-policy", "noeviction");
    }

    @Override
    public String title() {
        return "store, " + server.version() + " on this machine, in memory";
    }

    @Override
    List<Variant> others(Mode mode) {
        List<Variant> others = new ArrayList<>();
        tool.ifPresent(found -> {
            Shape shape = host().shape();
            others.add(new Variant(found.version() + ", one key, as many connections", () -> found.run(mode, server.port(), shape, 1)));
            if (mode == Mode.write) {
                others.add(new Variant("the same, random keys", () -> found.run(mode, server.port(), shape, shape.blocks())));
            }
        });
        return others;
    }
}
