/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.attack;

import com.google.protobuf.ByteString;
import io.tierlog.agent.app.engine.Layouts;
import io.tierlog.engine.v1.FinishRequest;
import io.tierlog.engine.v1.Released;
import io.tierlog.engine.v1.SubmitRequest;
import io.tierlog.ops.engine.api.AgentAddress;
import io.tierlog.ops.engine.api.AgentClient;
import io.tierlog.ops.engine.api.AgentSession;
import io.tierlog.ops.engine.api.CallRefused;
import io.tierlog.ops.engine.api.SessionLost;
import io.tierlog.ops.engine.api.Timeouts;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** An engine that submits and finishes requests all the time, computes nothing, and measures its calls. Its own thread works. */
final class EngineCalls implements AutoCloseable {
    private static final int PAGES = 64;
    private static final int BLOCKS = 8;
    private static final long PAUSE_NS = 5_000_000;

    private final AgentClient client;
    private final Thread thread;
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final List<Long> nanos = new ArrayList<>();
    private volatile boolean closing;
    private volatile @Nullable String lastFailure;

    EngineCalls(Path directory, int port) throws IOException {
        Path pool = directory.resolve("device-pool-" + port);
        try (RandomAccessFile file = new RandomAccessFile(pool.toFile(), "rw")) {
            file.setLength((long) PAGES * AttackScene.BLOCK_BYTES);
        }
        ByteString digest = ByteString.copyFrom(
                Layouts.layoutDigest(Layouts.opaque(AttackScene.BLOCK_BYTES, AttackScene.BLOCK_TOKENS)).asByteBuffer());
        client = new AgentClient(
                new AgentClient.Terms(new AgentAddress.HostPort("127.0.0.1", port), "engine", AttackScene.BLOCK_BYTES, digest, Map.of(),
                        Timeouts.defaults()),
                new AgentClient.Listener() {
                    @Override
                    public AgentClient.Buffers buffers() {
                        return new AgentClient.Buffers(pool.toString(), PAGES, 1);
                    }

                    @Override
                    public void released(AgentSession session, Released notice) {}

                    @Override
                    public void lost(AgentSession session, String reason) {}
                });
        client.start();
        thread = Thread.ofPlatform().name("engine-calls").start(this::work);
    }

    private void work() {
        for (long number = 0; !closing; number++) {
            Optional<AgentSession> session = client.current();
            try {
                if (session.isPresent()) {
                    request(session.get(), number);
                    requests.incrementAndGet();
                }
                LockSupport.parkNanos(PAUSE_NS);
            } catch (CallRefused | SessionLost e) {
                failed.incrementAndGet();
                lastFailure = e.getMessage();
                LockSupport.parkNanos(PAUSE_NS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void request(AgentSession session, long number) throws CallRefused, SessionLost, InterruptedException {
        SubmitRequest.Builder submit = SubmitRequest.newBuilder()
                .setSession(session.id()).setRequest("r" + number).setAttempt(1).setNamespace("m")
                .setPromptTokens(BLOCKS * AttackScene.BLOCK_TOKENS).setBlockTokens(AttackScene.BLOCK_TOKENS).setReuseEligible(true);
        for (int i = 0; i < BLOCKS; i++) {
            submit.addKeys(ByteString.copyFrom(ByteBuffer.allocate(16).putLong(number).putLong(i + 1).flip()));
        }
        measured(() -> session.submit(submit.build(), Optional.empty()));
        measured(() -> session.finish(FinishRequest.newBuilder()
                .setSession(session.id()).setRequest("r" + number).setAttempt(1).setOutcome(FinishRequest.Outcome.OUTCOME_COMPLETED).build()));
    }

    private interface Call {
        void run() throws CallRefused, SessionLost, InterruptedException;
    }

    private void measured(Call call) throws CallRefused, SessionLost, InterruptedException {
        long start = System.nanoTime();
        call.run();
        synchronized (nanos) {
            nanos.add(System.nanoTime() - start);
        }
    }

    /** Requests that were submitted and finished. */
    long requests() {
        return requests.get();
    }

    /** Waits until twenty more have been submitted and finished. */
    void awaitMore() {
        long before = requests();
        AttackScene.await("requests go on; the last failure was " + lastFailure, () -> requests() > before + 20);
    }

    /** Requests of which a call was refused, or whose session ended. */
    long failed() {
        return failed.get();
    }

    /** Why the last of them failed. */
    @Nullable String lastFailure() {
        return lastFailure;
    }

    /** The 99th percentile of the calls since the last question, in microseconds; 0 without calls. */
    long p99Micros() {
        synchronized (nanos) {
            List<Long> sorted = nanos.stream().sorted().toList();
            nanos.clear();
            return sorted.isEmpty() ? 0 : sorted.get((int) (sorted.size() * 0.99)) / 1_000;
        }
    }

    @Override
    public void close() {
        closing = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        client.close();
    }
}
