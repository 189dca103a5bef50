/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.directory.v1.BatchExistRequest;
import io.tierlog.directory.v1.BatchExistResponse;
import io.tierlog.directory.v1.DirectoryGrpc;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

/**
 * A caller that asks one of two instances for random blocks, and the other when that one does not answer, and holds each answer against what is so:
 * even numbers are held, odd ones are not, and late ones are from some moment on. Its thread asks; any other may look.
 */
final class DirectoryPoller implements AutoCloseable {
    static final String NAMESPACE = "model/a";
    static final int BLOCKS = 2_000;
    /** Blocks from {@link #BLOCKS} to here come later. */
    static final int WITH_LATE = BLOCKS + 100;
    private static final int BATCH = 64;
    private static final int DEADLINE_MS = 10_000;
    private static final long PAUSE_NANOS = 2_000_000;

    private final String name;
    private final ManagedChannel other;
    private final Thread thread = Thread.ofPlatform().daemon().unstarted(this::run);
    private final SplittableRandom random = new SplittableRandom(7);
    private final Map<String, Count> phases = new LinkedHashMap<>();
    private volatile ManagedChannel asked;
    private volatile boolean stopped;
    private Count now = new Count();
    private long lateMs = Long.MAX_VALUE;
    private long lastNotFreshNanos = System.nanoTime();
    private long lastAskedNanos;
    private String firstWrong = "";

    /** The answers that callers got in one phase. */
    record Counts(
            double seconds, long fresh, long stale, long unknown, long wrong, long unanswered, long failedCalls, double p99Ms, double longestMs) {}

    private static final class Count {
        private final long begin = System.nanoTime();
        private final List<Long> nanos = new ArrayList<>();
        private long end = begin;
        private long fresh;
        private long stale;
        private long unknown;
        private long wrong;
        private long unanswered;
        private long failedCalls;
    }

    DirectoryPoller(String name, int port, int otherPort) {
        this.name = name;
        asked = channel(port);
        other = channel(otherPort);
    }

    private static ManagedChannel channel(int port) {
        return NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    }

    /** Whether a block is held from the beginning on. */
    static boolean isHeld(int number) {
        return number % 2 == 0;
    }

    void start() {
        thread.start();
    }

    private void run() {
        while (!stopped) {
            int[] numbers = random.ints(BATCH, 0, WITH_LATE).toArray();
            long begin = System.nanoTime();
            Optional<BatchExistResponse> answer = ask(asked, numbers);
            boolean failed = answer.isEmpty();
            if (failed) {
                answer = ask(other, numbers);
            }
            take(numbers, answer, failed, System.nanoTime() - begin);
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private static Optional<BatchExistResponse> ask(ManagedChannel whom, int... numbers) {
        ByteArrayOutputStream keys = new ByteArrayOutputStream();
        for (int number : numbers) {
            keys.writeBytes(PlacementLog.key(number).unshared());
        }
        try {
            return Optional.of(DirectoryGrpc.newBlockingStub(whom)
                    .withDeadlineAfter(DEADLINE_MS, TimeUnit.MILLISECONDS)
                    .batchExist(BatchExistRequest.newBuilder()
                            .setNamespace(NAMESPACE)
                            .setKeyBytes(16)
                            .setPackedKeys(ByteString.copyFrom(keys.toByteArray()))
                            .build()));
        } catch (StatusRuntimeException e) {
            return Optional.empty();
        }
    }

    private synchronized void take(int[] numbers, Optional<BatchExistResponse> answer, boolean failed, long tookNanos) {
        now.nanos.add(tookNanos);
        now.failedCalls += failed ? 1 : 0;
        now.end = System.nanoTime();
        lastAskedNanos = now.end;
        boolean fresh = answer.isPresent() && !answer.get().getFreshness().getStale();
        if (answer.isEmpty()) {
            now.unanswered += numbers.length;
        } else {
            for (int i = 0; i < numbers.length; i++) {
                fresh &= one(numbers[i], Presence.of(answer.get().getAnswers().byteAt(i)), answer.get());
            }
        }
        if (!fresh) {
            lastNotFreshNanos = now.end;
        }
    }

    /** Counts one key; whether it was known. A late block may be missing in an answer that is of a moment before it came, and in no other. */
    private boolean one(int number, Presence presence, BatchExistResponse answer) {
        boolean right = number < BLOCKS
                ? (presence == Presence.FOUND) == isHeld(number)
                : presence == Presence.FOUND || answer.getFreshness().getAsOfMs() < lateMs;
        if (presence == Presence.UNKNOWN) {
            now.unknown++;
        } else if (!right) {
            now.wrong++;
            String what = number + " is " + presence + " in an answer of " + answer.getFreshness().getAsOfMs() + ", late " + lateMs;
            firstWrong = firstWrong.isEmpty() ? what : firstWrong;
        } else if (answer.getFreshness().getStale()) {
            now.stale++;
        } else {
            now.fresh++;
        }
        return presence != Presence.UNKNOWN;
    }

    /** Whether each block of the beginning is answered as it is, by the first of its two instances. */
    boolean seesAll() {
        Optional<BatchExistResponse> answer = ask(asked, IntStream.range(0, BLOCKS).toArray());
        return answer.isPresent() && IntStream.range(0, BLOCKS)
                .allMatch(i -> answer.get().getAnswers().byteAt(i) == (isHeld(i) ? Presence.FOUND : Presence.NOT_FOUND).code());
    }

    /** Counts under another name from here on. */
    synchronized void phase(String phase) {
        now = new Count();
        phases.put(phase, now);
    }

    /** Late blocks were committed at that moment at the latest. */
    synchronized void lateSince(long ms) {
        lateMs = ms;
    }

    /** The first of its two instances is at another port now. */
    void movedTo(int port) {
        ManagedChannel before = asked;
        asked = channel(port);
        before.shutdown();
    }

    synchronized boolean freshFor(Duration time) {
        return lastAskedNanos - lastNotFreshNanos > time.toNanos();
    }

    synchronized boolean askedFor(Duration time) {
        return lastAskedNanos - now.begin > time.toNanos();
    }

    synchronized long lastNotFreshNanos() {
        return lastNotFreshNanos;
    }

    synchronized String firstWrong() {
        return firstWrong;
    }

    synchronized Counts counts(String phase) {
        Count count = Objects.requireNonNull(phases.get(phase), phase);
        List<Long> nanos = count.nanos.stream().sorted().toList();
        return new Counts((count.end - count.begin) / 1e9, count.fresh, count.stale, count.unknown, count.wrong, count.unanswered, count.failedCalls,
                nanos.isEmpty() ? 0 : nanos.get(nanos.size() * 99 / 100) / 1e6, nanos.isEmpty() ? 0 : nanos.getLast() / 1e6);
    }

    long sum(ToLongFunction<Counts> what) {
        return phases.keySet().stream().mapToLong(phase -> what.applyAsLong(counts(phase))).sum();
    }

    String name() {
        return name;
    }

    void stop() {
        stopped = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        stop();
        asked.shutdownNow();
        other.shutdownNow();
    }
}
