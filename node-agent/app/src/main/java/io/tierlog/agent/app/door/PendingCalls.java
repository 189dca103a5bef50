/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.door;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls that wait for the core, by number; a bounded number of them. Safe for use by several threads. A call whose caller has gone is
 * forgotten: the core's answer then goes nowhere.
 */
final class PendingCalls {
    private static final Logger LOG = LoggerFactory.getLogger(PendingCalls.class);

    /** One call: how it is answered, and how refused. */
    interface Pending {
        void answer(Answer answer);

        void refuse(StatusRuntimeException status);
    }

    private final Map<Long, Pending> calls = new ConcurrentHashMap<>();
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLong numbers = new AtomicLong();
    private final int most;

    PendingCalls(int most) {
        this.most = most;
    }

    /** A number for a new call. */
    long nextNumber() {
        return numbers.incrementAndGet();
    }

    /** Remembers a call; false when too many wait. */
    boolean add(long call, Pending pending) {
        if (count.incrementAndGet() > most) {
            count.decrementAndGet();
            return false;
        }
        calls.put(call, pending);
        return true;
    }

    /** The call, which is not pending any more; nothing when it was forgotten. */
    Optional<Pending> take(long call) {
        @Nullable Pending pending = calls.remove(call);
        if (pending != null) {
            count.decrementAndGet();
        }
        return Optional.ofNullable(pending);
    }

    /** The caller of {@code call} has gone. */
    void forget(long call) {
        take(call);
    }

    /** Refuses all calls that wait. */
    void refuseAll(StatusRuntimeException status) {
        calls.keySet().forEach(call -> take(call).ifPresent(pending -> pending.refuse(status)));
    }

    int size() {
        return count.get();
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
