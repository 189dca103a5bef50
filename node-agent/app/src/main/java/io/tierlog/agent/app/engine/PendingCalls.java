/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.tierlog.threads.Supervised;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls that wait for the core, by number; a bounded number of them. Safe for use by several threads. A call whose caller has gone is
 * forgotten: the core's answer then goes nowhere. Trade-off: one thread that waits for the deadlines of calls that have none of their own.
 */
final class PendingCalls implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PendingCalls.class);

    /** One call: how it is answered, and how refused. */
    interface Pending {
        void answer(Answer answer);

        void refuse(StatusRuntimeException status);
    }

    /** A call that waits, and the watch over its deadline when the API has to keep one. */
    private record Waiting(Pending pending, @Nullable Watch watch) {}

    /** A watch that may be cancelled before it has begun. Safe for use by several threads. */
    private static final class Watch {
        private @Nullable Future<?> future;
        private boolean cancelled;

        synchronized void begun(Future<?> started) {
            future = started;
            if (cancelled) {
                started.cancel(false);
            }
        }

        synchronized void cancel() {
            cancelled = true;
            if (future != null) {
                future.cancel(false);
            }
        }
    }

    private final Map<Long, Waiting> calls = new ConcurrentHashMap<>();
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLong numbers = new AtomicLong();
    private final ScheduledExecutorService watches;
    private final int most;

    PendingCalls(int most) {
        this.most = most;
        this.watches = Supervised.scheduler("engine-call-deadlines");
    }

    /** A number for a new call. */
    long nextNumber() {
        return numbers.incrementAndGet();
    }

    /** Remembers a call; false when too many wait. */
    boolean add(long call, Pending pending) {
        return add(call, new Waiting(pending, null));
    }

    /** Remembers a call that has {@code waitMs} milliseconds from now on, and runs {@code late} when they have passed; false when too many wait. */
    boolean add(long call, Pending pending, long waitMs, Runnable late) {
        if (count.get() >= most) {
            return false; // no watch for a call that is refused anyway
        }
        Watch watch = new Watch();
        boolean added = add(call, new Waiting(pending, watch));
        if (added) {
            // The call is there before its time can be over: a watch that finds nothing ends nothing.
            watch.begun(watches.schedule(late, waitMs, TimeUnit.MILLISECONDS));
        }
        return added;
    }

    private boolean add(long call, Waiting waiting) {
        if (count.incrementAndGet() > most) {
            count.decrementAndGet();
            return false;
        }
        calls.put(call, waiting);
        return true;
    }

    /** The call, which is not pending any more; nothing when it was forgotten. */
    Optional<Pending> take(long call) {
        Waiting waiting = calls.remove(call);
        if (waiting == null) {
            return Optional.empty();
        }
        count.decrementAndGet();
        Watch watch = waiting.watch();
        if (watch != null) {
            watch.cancel();
        }
        return Optional.of(waiting.pending());
    }

    /** Refuses all calls that wait. */
    void refuseAll(StatusRuntimeException status) {
        calls.keySet().forEach(call -> take(call).ifPresent(pending -> pending.refuse(status)));
    }

    int size() {
        return count.get();
    }

    /** No deadline is watched any more. */
    @Override
    public void close() {
        watches.shutdownNow();
    }

    /** A call that is answered with one message, made by {@code encode}. */
    static <R> Pending unary(ServerCallStreamObserver<R> caller, Function<Answer, R> encode) {
        return new Pending() {
            @Override
            public void answer(Answer answer) {
                R reply;
                try {
                    reply = encode.apply(answer);
                } catch (UnexpectedAnswerException e) {
                    LOG.error("the core answered a call with {}", answer);
                    caller.onError(Status.INTERNAL.withDescription("the agent answered another question").asRuntimeException());
                    return;
                }
                caller.onNext(reply);
                caller.onCompleted();
            }

            @Override
            public void refuse(StatusRuntimeException status) {
                caller.onError(status);
            }
        };
    }

    /** The core gave an answer that the call does not have. */
    static final class UnexpectedAnswerException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }
}
