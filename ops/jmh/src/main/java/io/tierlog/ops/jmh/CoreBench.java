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
 * Decide and evolve of one event that is about {@value CoreWorld#BLOCKS} blocks, in blocks a second, on a node that has some thousands already.
 * The events before and after it, which bring the node there and back, are not measured; an event takes long enough for that.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(value = 1, jvmArgsAppend = {"-Xms1g", "-Xmx1g", "--enable-native-access=ALL-UNNAMED"})
public class CoreBench {
    private static final long ROOM = 1 << 20;

    /** A node, and the prompt of the invocation at hand. */
    @SuppressWarnings("NullAway.Init") // JMH sets the parameters and calls the fixtures before anything else
    @State(Scope.Thread)
    public abstract static class Node {
        @Param({"heap", "rocksdb"})
        public String tables;

        /** Blocks on the host beside those that are measured. */
        @Param("20000")
        public int warmBlocks;

        CoreWorld world;
        Life life;
        Event event;

        /** Capacity of the host in blocks. */
        long hostBlocks() {
            return ROOM;
        }

        @Setup
        public void open() throws IOException, RocksDBException {
            world = CoreWorld.of(tables, hostBlocks(), warmBlocks);
        }

        @TearDown
        public void close() throws IOException {
            world.close();
        }

        final void begin() {
            life = new Life(world);
        }
    }

    /** A waiting request, of whose prompt the store has all: 100 places are taken and a fetch is commanded. */
    @State(Scope.Thread)
    public static class Fetch extends Node {
        @Setup(Level.Invocation)
        public void before() {
            begin();
            event = world.submitted(life.prompt(), life.prompt().request(), true, false);
        }

        @TearDown(Level.Invocation)
        public void after() {
            life.fetched();
            life.finished();
            world.step(life.evicted(Tier.HOST));
            world.tick();
        }
    }

    /** A request whose prompt is on the host: 100 blocks are met. */
    @State(Scope.Thread)
    public static class Hit extends Node {
        private int hits;

        @Override
        public void open() throws IOException, RocksDBException {
            super.open();
            begin();
            life.submitWaiting();
            life.fetched();
            life.finished();
        }

        @Setup(Level.Invocation)
        public void before() {
            event = world.submitted(life.prompt(), "hit-" + hits++, false, true);
        }

        @TearDown(Level.Invocation)
        public void after() {
            if (hits % 100 == 0) {
                world.tick();
            }
        }
    }

    /** The end of a write-back: 100 copies serve on the host, and a backup is commanded. */
    @State(Scope.Thread)
    public static class WriteBack extends Node {
        @Setup(Level.Invocation)
        public void before() {
            begin();
            life.computed();
            event = life.writeBackDone();
        }

        @TearDown(Level.Invocation)
        public void after() {
            life.backedUp();
            world.step(life.evicted(Tier.HOST));
            world.step(life.evicted(Tier.DEVICE));
            world.tick();
        }
    }

    /** What the agent had to let go: 100 copies of one prompt. */
    @State(Scope.Thread)
    public static class Eviction extends Node {
        @Setup(Level.Invocation)
        public void before() {
            begin();
            life.submitWaiting();
            life.fetched();
            life.finished();
            event = life.evicted(Tier.HOST);
        }

        @TearDown(Level.Invocation)
        public void after() {
            world.tick();
        }
    }

    /** A waiting request before a host that is full but for its blocks: 100 places are taken, and the 100 coldest blocks are dropped for them. */
    @State(Scope.Thread)
    public static class Relief extends Node {
        @Override
        long hostBlocks() {
            return (long) warmBlocks + CoreWorld.BLOCKS;
        }

        @Setup(Level.Invocation)
        public void before() {
            begin();
            event = world.submitted(life.prompt(), life.prompt().request(), true, false);
        }

        @TearDown(Level.Invocation)
        public void after() {
            Event fetched = life.fetchDone();
            Event dropped = Life.dropped(world);
            world.step(fetched);
            world.step(dropped);
            life.finished();
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
