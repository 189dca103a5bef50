/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.state;

import io.tierlog.schemas.RequestState;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * The states of one attempt of a request, and which follows which.
 *
 * <pre>
 *   SUBMITTED ---> PREFETCHING ---> PREFETCH_DONE
 *        \              \               |
 *         \              v              v
 *          +--------> PREFILLING <------+
 *                        |   \
 *                        v    \
 *                     DECODING -+--> FINISHED        from every state but the ends: CANCELLED, REJECTED
 * </pre>
 */
public final class RequestStates {
    private static final Map<RequestState, Set<RequestState>> NEXT = new EnumMap<>(RequestState.class);

    static {
        legal(RequestState.SUBMITTED, RequestState.PREFETCHING, RequestState.PREFILLING);
        legal(RequestState.PREFETCHING, RequestState.PREFETCH_DONE, RequestState.PREFILLING);
        legal(RequestState.PREFETCH_DONE, RequestState.PREFILLING);
        legal(RequestState.PREFILLING, RequestState.DECODING, RequestState.FINISHED);
        legal(RequestState.DECODING, RequestState.FINISHED);
    }

    private RequestStates() {}

    private static void legal(RequestState from, RequestState... to) {
        NEXT.put(from, EnumSet.of(RequestState.CANCELLED, RequestState.REJECTED));
        NEXT.get(from).addAll(Set.of(to));
    }

    /** Whether an attempt may go from one to the other. */
    public static boolean isLegal(RequestState from, RequestState to) {
        Set<RequestState> next = NEXT.get(from);
        return next != null && next.contains(to);
    }

    /** Whether nothing follows. */
    public static boolean isEnd(RequestState state) {
        return !NEXT.containsKey(state);
    }
}
