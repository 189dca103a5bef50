/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.jmh;

import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.AgentStopping;
import io.tierlog.schemas.event.BlocksRecovered;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import org.rocksdb.RocksDBException;

/**
 * A partition whose nodes or namespaces come and go all day, each with a name of its own, under the policy that is in force when none is set. Each
 * node serves for ten minutes and holds a few blocks when it stops; each namespace has one request, whose blocks are evicted at once. Prints a line
 * for each hour of log time. On the heap; for one thread.
 */
final class ExpiryBench {
    private static final int BLOCKS = 2;
    private static final int HOUR = 3_600;
    private static final int DAY = 24 * HOUR;
    private static final int SERVES = 600;
    private static final long TICK_MS = 1_000;

    private final CoreWorld world;
    private final HeapTables tables;
    private final PrintStream out;
    private final Deque<Serving> serving = new ArrayDeque<>();
    private long named;

    /** A node that serves until that second. */
    private record Serving(String name, long incarnation, long until) {}

    /** What is there after an hour of log time. */
    record Hour(long names, long rows, long nodes, long members, long namespaces, double medianMs, double worstMs) {}

    ExpiryBench(CoreWorld world, PrintStream out) {
        this.world = world;
        this.tables = (HeapTables) world.tables();
        this.out = out;
    }

    /** Arguments: nodes or namespaces; how many of them in a day (10000 nodes, 1000000 namespaces); hours of log time (72, 6). */
    static void run(String[] args) throws IOException, RocksDBException {
        boolean nodes = args[0].equals("nodes");
        if (!nodes && !args[0].equals("namespaces")) {
            throw new IllegalArgumentException("not " + args[0] + ": nodes or namespaces");
        }
        int perDay = args.length > 1 ? Integer.parseInt(args[1]) : nodes ? 10_000 : 1_000_000;
        int hours = args.length > 2 ? Integer.parseInt(args[2]) : nodes ? 72 : 6;
        try (CoreWorld world = CoreWorld.of("heap", 1 << 20, 0, 1)) {
            new ExpiryBench(world, System.out).run(nodes, perDay, hours);
        }
    }

    List<Hour> run(boolean nodes, int perDay, int hours) {
        out.printf(Locale.ROOT, "%d %s in a day on one partition, a tick a second; times of a tick in ms%n", perDay, nodes ? "nodes" : "namespaces");
        out.printf("%5s %10s %10s %8s %8s %10s %8s %8s %8s%n", "hour", "names", "rows", "nodes", "members", "namespaces", "p50", "p99", "max");
        List<Hour> all = new ArrayList<>();
        long[] tickNs = new long[HOUR];
        for (int hour = 1; hour <= hours; hour++) {
            for (int second = 0; second < HOUR; second++) {
                long now = (hour - 1L) * HOUR + second;
                while (named * DAY < now * perDay) {
                    named++;
                    if (nodes) {
                        begin("node-" + named, now);
                    } else {
                        request("model/bf16/layout/salt-" + named);
                    }
                }
                end(now);
                long startNs = System.nanoTime();
                world.tick(TICK_MS);
                tickNs[second] = System.nanoTime() - startNs;
            }
            Arrays.sort(tickNs);
            Hour is = new Hour(named, Rows.ALL.stream().mapToLong(table -> tables.rows(table).size()).sum(), tables.rows(Rows.NODES).size(),
                    tables.rows(Rows.MEMBERS).size(), tables.rows(Rows.NAMESPACES).size(), tickNs[HOUR / 2] / 1e6, tickNs[HOUR - 1] / 1e6);
            out.printf(Locale.ROOT, "%5d %10d %10d %8d %8d %10d %8.3f %8.3f %8.3f%n", hour, is.names, is.rows, is.nodes, is.members, is.namespaces,
                    is.medianMs, tickNs[HOUR * 99 / 100] / 1e6, is.worstMs);
            all.add(is);
        }
        return all;
    }

    private void begin(String name, long now) {
        world.step(CoreWorld.registering(name, 1_000));
        Serving node = new Serving(name, world.incarnation(), now + SERVES);
        List<PagedBlock> blocks = new ArrayList<>();
        for (int i = 0; i < BLOCKS; i++) {
            Bytes key = Bytes.wrapUnshared(ByteBuffer.allocate(16).putLong(named).putLong(i).array());
            blocks.add(new PagedBlock(new Block(0, key, Bytes.EMPTY), i, 1, 77));
        }
        world.step(new BlocksRecovered(envelope(node, 2), Tier.HOST, CoreWorld.NAMESPACE, blocks, 0));
        serving.addLast(node);
    }

    private void end(long now) {
        while (!serving.isEmpty() && serving.getFirst().until <= now) {
            world.step(new AgentStopping(envelope(serving.removeFirst(), 3), "p"));
        }
    }

    private static Envelope envelope(Serving node, long sequence) {
        return new Envelope("node/" + node.name, "agent/" + node.name + "/p", node.incarnation, sequence, 0, 0, null, null, null);
    }

    private void request(String namespace) {
        PromptCycle cycle = new PromptCycle(world, BLOCKS, namespace);
        cycle.computed();
        world.step(cycle.writeBackDone());
        cycle.backedUp();
        world.step(cycle.evicted(Tier.HOST));
        world.step(cycle.evicted(Tier.DEVICE));
    }
}
