/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.jmh;

import io.tierlog.controller.core.state.TimerRows;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey.Timer.Queue;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Table;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.event.OperationCancelled;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.rocksdb.RocksDBException;

/**
 * A partition under a steady load for some minutes of log time, as fast as the machine goes: each request is computed, written back and backed up,
 * and its blocks are evicted, so that nothing but the rows of requests, operations and timers could grow. The write-back of every
 * fiftieth request is not reported: it is cancelled at its deadline. Prints a line for each minute of log time. For one thread.
 */
public final class GrowthBench {
    private static final int BLOCKS = 2;
    private static final int UNREPORTED = 50;
    private static final long TICK_MS = 1_000;

    private final CoreWorld world;
    private final int blocks;
    private final PrintStream out;
    private final long[] tickNs = new long[60];
    private final Map<Queue, Long> lagMs = new EnumMap<>(Queue.class);
    private long requests;
    private long overdue;

    /** Each request has {@code blocks} blocks of its own. */
    GrowthBench(CoreWorld world, int blocks, PrintStream out) {
        this.world = world;
        this.blocks = blocks;
        this.out = out;
    }

    /**
     * @param args requests a second, 1 or more (2000); minutes of log time, 1 or more (30); tables: heap or rocksdb (heap); blocks of a
     *     request, 1 to {@value CoreWorld#BLOCKS} (2). Or nodes or namespaces: how many of them come and go in a day, and hours of log time, see
     *     {@link ExpiryBench}
     */
    public static void main(String[] args) throws IOException, RocksDBException {
        if (args.length > 0 && !Character.isDigit(args[0].charAt(0))) {
            ExpiryBench.run(args);
            return;
        }
        int rate = args.length > 0 ? Integer.parseInt(args[0]) : 2_000;
        int minutes = args.length > 1 ? Integer.parseInt(args[1]) : 30;
        try (CoreWorld world = CoreWorld.of(args.length > 2 ? args[2] : "heap", 1 << 20, 0, 1)) {
            new GrowthBench(world, args.length > 3 ? Integer.parseInt(args[3]) : BLOCKS, System.out).run(rate, minutes);
        }
    }

    /** Runs the load; returns the rows after each minute, all 0 for tables that cannot count. */
    long[] run(int rate, int minutes) {
        out.printf(Locale.ROOT, "%d requests/s on one partition, a tick a second; times of a tick in ms, lag in ms of log time%n", rate);
        out.printf("%6s %10s %10s %9s %9s %8s %8s %8s %8s %8s %9s %8s%n", "minute", "requests", "rows", "overdue", "lag act", "mark", "forget",
                "p50", "p99", "max", "log MB", "heap MB");
        world.countLogBytes();
        long[] rows = new long[minutes];
        for (int minute = 1; minute <= minutes; minute++) {
            lagMs.clear();
            for (int second = 0; second < tickNs.length; second++) {
                for (int i = 0; i < rate; i++) {
                    request();
                }
                tickNs[second] = tick();
            }
            Arrays.sort(tickNs);
            rows[minute - 1] = rows();
            out.printf(Locale.ROOT, "%6d %10d %10d %9d %9d %8d %8d %8.2f %8.2f %8.2f %9.1f %8.1f%n", minute, requests, rows[minute - 1], overdue,
                    lagMs.get(Queue.ACT), lagMs.get(Queue.MARK), lagMs.get(Queue.FORGET), ms(tickNs[30]), ms(tickNs[58]),
                    ms(tickNs[59]), world.logBytes() / 1e6, liveHeapBytes() / 1e6);
        }
        return rows;
    }

    private static long liveHeapBytes() {
        System.gc();
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        return heap.getUsed();
    }

    private void request() {
        PromptCycle cycle = new PromptCycle(world, blocks);
        cycle.computed();
        if (++requests % UNREPORTED == 0) {
            world.step(cycle.evicted(Tier.DEVICE));
            return;
        }
        world.step(cycle.writeBackDone());
        cycle.backedUp();
        world.step(cycle.evicted(Tier.HOST));
        world.step(cycle.evicted(Tier.DEVICE));
    }

    private long tick() {
        long startNs = System.nanoTime();
        List<CancelOperation> late = world.tick(TICK_MS).commands().stream().filter(CancelOperation.class::isInstance)
                .map(CancelOperation.class::cast).toList();
        long tookNs = System.nanoTime() - startNs;
        overdue += late.size();
        for (CancelOperation cancel : late) {
            world.step(new OperationCancelled(world.envelope(), cancel.operation(), OperationReason.CANCELLED, CoreWorld.NAMESPACE, List.of()));
        }
        for (Queue queue : Queue.values()) {
            lagMs.merge(queue, TimerRows.lagMs(world.tables(), "clock/0", queue), Math::max);
        }
        return tookNs;
    }

    private long rows() {
        return world.tables() instanceof HeapTables heap ? Rows.ALL.stream().mapToLong(table -> count(heap, table)).sum() : 0;
    }

    private static long count(HeapTables heap, Table<?, ?> table) {
        return heap.rows(table).size();
    }

    private static double ms(long ns) {
        return ns / 1e6;
    }
}
