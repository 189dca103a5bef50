/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import com.google.protobuf.Message;
import io.grpc.stub.ServerCallStreamObserver;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Calls that every rank of an engine makes: they wait here until the last rank has called, and all receive one answer.
 *
 * <p>Safe for use by several threads; a bounded number of calls, each of a session that was open. A rank whose caller goes away before the last has
 * called has not called.
 */
final class RankedCalls {
    private final Map<Message, SortedMap<Integer, ServerCallStreamObserver<?>>> waiting = new HashMap<>();
    private final int most;

    RankedCalls(int most) {
        this.most = most;
    }

    /**
     * One rank calls.
     *
     * @param call the same for every rank
     * @param ranks that make it
     * @param isOpen whether the session of the call is open: without one it is not kept
     * @return to answer all of them with, when this was the last; nothing when others are missing, or the call was refused here
     */
    <R> Optional<ServerCallStreamObserver<R>> called(Message call, int rank, int ranks, boolean isOpen, ServerCallStreamObserver<R> caller) {
        if (rank < 0 || rank >= ranks) {
            caller.onError(EngineErrors.of(Refusal.BAD_ARGUMENT, "rank is " + rank + ", this agent has " + ranks + " from 0 on", false));
            return Optional.empty();
        }
        if (ranks == 1) {
            return Optional.of(caller);
        }
        SortedMap<Integer, ServerCallStreamObserver<?>> callers;
        synchronized (this) {
            callers = waiting.get(call);
            // Where other ranks wait, their session has ended meanwhile: with the last rank all receive that.
            if (callers == null && !isOpen) {
                caller.onError(EngineErrors.unknownSession());
                return Optional.empty();
            }
            if (callers == null && waiting.size() >= most) {
                caller.onError(EngineErrors.of(Refusal.BUSY, waiting.size() + " calls wait for other ranks already", true));
                return Optional.empty();
            }
            if (callers != null && callers.containsKey(rank)) {
                caller.onError(EngineErrors.of(Refusal.BAD_ARGUMENT, "rank " + rank + " makes this call already", false));
                return Optional.empty();
            }
            if (callers == null) {
                callers = new TreeMap<>();
                waiting.put(call, callers);
            }
            callers.put(rank, caller);
            if (callers.size() == ranks) {
                waiting.remove(call);
                return Optional.of(new RankedCaller<>(caller, callers.values().stream().map(RankedCalls::<R>same).toList()));
            }
        }
        caller.setOnCancelHandler(() -> gone(call, rank, caller));
        return Optional.empty();
    }

    /** Callers of one call wait for the same kind of answer. */
    @SuppressWarnings("unchecked")
    private static <R> ServerCallStreamObserver<R> same(ServerCallStreamObserver<?> caller) {
        return (ServerCallStreamObserver<R>) caller;
    }

    private synchronized void gone(Message call, int rank, ServerCallStreamObserver<?> caller) {
        SortedMap<Integer, ServerCallStreamObserver<?>> callers = waiting.get(call);
        if (callers != null && callers.remove(rank, caller) && callers.isEmpty()) {
            waiting.remove(call);
        }
    }

    /** Calls that wait for other ranks, count. */
    synchronized int size() {
        return waiting.size();
    }
}
