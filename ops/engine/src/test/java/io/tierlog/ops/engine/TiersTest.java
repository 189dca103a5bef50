/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.tierlog.engine.v1.SubmitRequest;
import io.tierlog.ops.engine.api.Timeouts;
import io.tierlog.ops.engine.device.BlockTable;
import io.tierlog.ops.engine.device.DevicePool;
import io.tierlog.ops.engine.workload.ConversationParameters;
import io.tierlog.ops.engine.workload.ConversationWorkload;
import io.tierlog.ops.engine.workload.Request;
import io.tierlog.ops.engine.workload.Workload;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a request tells its agent, step by step, with the agent's death between two steps. */
@Timeout(60)
class TiersTest {
    @TempDir
    private Path directory;

    private final FakeAgent agent = new FakeAgent("tiers-" + System.identityHashCode(this));
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Workload workload = ConversationWorkload.of(ConversationParameters.defaults().withRequests(10));
    private Engine engine;

    @BeforeEach
    void open() throws Exception {
        ReplayConfig config = ReplayConfig.of(
                        "test",
                        workload,
                        List.of(new EngineNode("a", agent.address())),
                        new ReplayConfig.Device(directory, 100, ReplayTest.BLOCK_BYTES, true),
                        new ReplayConfig.Identity("model", ByteString.copyFrom(new byte[32])))
                .withTimeouts(new Timeouts(2_000, 1_000, 2_000, 5_000, 5_000, 5_000, 5_000, 5, 50));
        engine = new Engine(
                Engine.Shared.of(config, new Engine.Background(threads, failure -> agent.wrongs.add(failure.toString()))), 0);
        engine.start();
        assertTrue(engine.agent().awaitSession(5_000));
    }

    @AfterEach
    void close() throws Exception {
        engine.close();
        agent.close();
        threads.close();
        assertEquals(List.of(), agent.wrongs);
    }

    private BlockTable compute(Request request) throws InterruptedException {
        DevicePool pool = engine.pool();
        BlockTable blocks = pool.acquire(
                pool.enqueue(),
                new BlockTable.Demand(
                        "r" + request.index(), request.tenant(), request.wholeKeys(), request.reusable(), request.shape().pages()));
        for (int i = blocks.matched(); i < request.accesses(); i++) {
            pool.fill(blocks, i, engine.oracle(request), request.promptKeys().get(i));
        }
        pool.publish(blocks, request.wholeKeys());
        return blocks;
    }

    @Test
    void aRequestThatOutlivesItsSessionIsANewAttemptInTheNextOne() throws Exception {
        Request request = workload.request(0);
        Tiers tiers = new Tiers(engine, request);
        assertTrue(tiers.submit(List.of(), true).isPresent());
        BlockTable blocks = compute(request);
        tiers.sealed(blocks, request.wholeKeys());
        String before = engine.buffers().path();

        agent.die();
        agent.awaitDeath();
        agent.restart();
        long untilNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (agent.opened.get() < 2 || engine.agent().current().isEmpty()) {
            assertTrue(System.nanoTime() < untilNanos, "no second session");
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
        tiers.finish(blocks, request.wholeKeys());
        engine.pool().release(blocks);

        assertTrue(!engine.buffers().path().equals(before), "the old process may still write to the old file");
        assertEquals(List.of(1, 2), agent.submitted.stream().map(SubmitRequest::getAttempt).toList());
        assertEquals(List.of(2), agent.finished.stream().map(f -> f.getAttempt()).toList());
        assertEquals(request.shape().wholeBlocks(), agent.submitted.stream().skip(1).findFirst().orElseThrow().getDeviceBlocks());
        assertTrue(engine.pool().awaitReleased(5_000));
        assertEquals(request.shape().wholeBlocks(), agent.stored());
    }

    @Test
    void blocksComputedWithoutASessionAreReportedByTheNextRequestThatUsesThem() throws Exception {
        Request request = workload.request(0);
        engine.pool().release(compute(request));

        Tiers tiers = new Tiers(engine, request);
        BlockTable blocks = compute(request);
        assertEquals(request.reusable(), blocks.matched());
        assertTrue(tiers.submit(engine.pool().placed(blocks, request.wholeKeys().subList(0, blocks.matched())), true).isPresent());
        tiers.sealed(blocks, request.wholeKeys());
        tiers.finish(blocks, request.wholeKeys());
        engine.pool().release(blocks);
        assertTrue(engine.pool().awaitReleased(5_000));
        assertEquals(request.shape().wholeBlocks(), agent.stored());
    }

    @Test
    void refusedPagesAreNotWaitedFor() throws Exception {
        Request request = workload.request(0);
        Tiers tiers = new Tiers(engine, request);
        assertTrue(tiers.submit(List.of(), true).isPresent());
        BlockTable blocks = compute(request);
        agent.refuseFinish = true;
        tiers.finish(blocks, request.wholeKeys());
        engine.pool().release(blocks);
        assertEquals(0, engine.pool().usage().held());
        engine.pool().validate();
    }
}
