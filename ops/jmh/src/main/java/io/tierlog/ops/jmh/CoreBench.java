/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.jmh;

import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.Event;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.rocksdb.RocksDBException;

/**
 * Decide and evolve of one event with {@value CoreWorld#BLOCKS} blocks, in blocks a second, on a node that holds some thousands already. The events
 * before and after it, which prepare and restore the node, are not measured; one event takes long enough for that.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(value = 1, jvmArgsAppend = {"-Xms1g", "-Xmx1g", "--enable-native-access=ALL-UNNAMED"})
public class CoreBench {
    private static final long HOST_BLOCKS = 1 << 24;

    /** A node, and the prompt of the present invocation. */
    @SuppressWarnings("NullAway.Init") // JMH sets the parameters and calls the fixtures before anything else
    @State(Scope.Thread)
    public abstract static class Node {
        @Param({"heap", "rocksdb"})
        public String tables;

        /** Blocks on the host beside those that are measured. */
        @Param("20000")
        public int warmBlocks;

        /** Nodes in all; the others hold nothing. */
        @Param("1")
        public int nodes;

        CoreWorld world;
        PromptCycle cycle;
        Event event;

        /** Capacity of the host in blocks. */
        long hostBlocks() {
            return HOST_BLOCKS;
        }

        @Setup
        public void open() throws IOException, RocksDBException {
            world = CoreWorld.of(tables, hostBlocks(), warmBlocks, nodes);
        }

        @TearDown
        public void close() throws IOException {
            world.close();
        }

        final void begin() {
            cycle = new PromptCycle(world);
        }
    }

    /** A waiting request whose prompt is in the store: it reserves 100 pages and commands a fetch. */
    @State(Scope.Thread)
    public static class Fetch extends Node {
        @Setup(Level.Invocation)
        public void before() {
            begin();
            event = world.submitted(cycle.prompt(), cycle.prompt().request(), true, false);
        }

        @TearDown(Level.Invocation)
        public void after() {
            cycle.fetched();
            cycle.finished();
            world.step(cycle.evicted(Tier.HOST));
            world.tick();
        }
    }

    /** A request whose prompt is on the host: 100 blocks match. */
    @State(Scope.Thread)
    public static class Hit extends Node {
        private int hits;

        @Override
        public void open() throws IOException, RocksDBException {
            super.open();
            begin();
            cycle.submitWaiting();
            cycle.fetched();
            cycle.finished();
        }

        @Setup(Level.Invocation)
        public void before() {
            event = world.submitted(cycle.prompt(), "hit-" + hits++, false, true);
        }

        @TearDown(Level.Invocation)
        public void after() {
            if (hits % 100 == 0) {
                world.tick();
            }
        }
    }

    /** The end of a write-back: 100 placements serve on the host, and it commands a backup. */
    @State(Scope.Thread)
    public static class WriteBack extends Node {
        @Setup(Level.Invocation)
        public void before() {
            begin();
            cycle.computed();
            event = cycle.writeBackDone();
        }

        @TearDown(Level.Invocation)
        public void after() {
            cycle.backedUp();
            world.step(cycle.evicted(Tier.HOST));
            world.step(cycle.evicted(Tier.DEVICE));
            world.tick();
        }
    }

    /** An eviction by the agent: 100 placements of one prompt. */
    @State(Scope.Thread)
    public static class Eviction extends Node {
        @Setup(Level.Invocation)
        public void before() {
            begin();
            cycle.submitWaiting();
            cycle.fetched();
            cycle.finished();
            event = cycle.evicted(Tier.HOST);
        }

        @TearDown(Level.Invocation)
        public void after() {
            world.tick();
        }
    }

    /** A waiting request that fills the host: it reserves 100 pages, and drops the 100 coldest blocks for them. */
    @State(Scope.Thread)
    public static class Relief extends Node {
        @Override
        long hostBlocks() {
            return (long) warmBlocks + CoreWorld.BLOCKS;
        }

        @Setup(Level.Invocation)
        public void before() {
            begin();
            event = world.submitted(cycle.prompt(), cycle.prompt().request(), true, false);
        }

        @TearDown(Level.Invocation)
        public void after() {
            Event fetched = cycle.fetchDone();
            Event dropped = PromptCycle.dropped(world);
            world.step(fetched);
            world.step(dropped);
            cycle.finished();
            world.tick();
        }
    }

    @Benchmark
    @OperationsPerInvocation(2 * CoreWorld.BLOCKS)
    public DecideResult submitThatRelieves(Relief node) {
        return node.world.step(node.event);
    }

    @Benchmark
    @OperationsPerInvocation(CoreWorld.BLOCKS)
    public DecideResult submitThatFetches(Fetch node) {
        return node.world.step(node.event);
    }

    @Benchmark
    @OperationsPerInvocation(CoreWorld.BLOCKS)
    public DecideResult submitThatHits(Hit node) {
        return node.world.step(node.event);
    }

    @Benchmark
    @OperationsPerInvocation(CoreWorld.BLOCKS)
    public DecideResult writeBackDone(WriteBack node) {
        return node.world.step(node.event);
    }

    @Benchmark
    @OperationsPerInvocation(CoreWorld.BLOCKS)
    public DecideResult eviction(Eviction node) {
        return node.world.step(node.event);
    }
}
