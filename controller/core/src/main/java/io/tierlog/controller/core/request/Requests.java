/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.request;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.state.RequestStates;
import io.tierlog.controller.core.writeback.WriteBacks;
import io.tierlog.schemas.LeaseEndReason;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.RequestCancelled;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestRejected;
import io.tierlog.schemas.event.WaitExpired;
import io.tierlog.schemas.state.RequestRow;
import org.jspecify.annotations.Nullable;

/**
 * The states of a request after its submission. Its transfers have states of their own: a request may end while they go on. Without state.
 */
public final class Requests {
    private Requests() {}

    public static void prefilled(NodeContext n, RequestPrefilled e) {
        RequestRow row = live(n, e, e.request(), e.attempt());
        if (row == null) {
            return;
        }
        RequestState state = prefilling(n, e.request(), row, RequestReason.WAIT_EXPIRED);
        if (state == RequestState.PREFILLING) {
            transition(n, e.request(), e.attempt(), state, RequestState.DECODING, RequestReason.PREFILLED);
        }
        endLease(n, row.lease(), LeaseEndReason.REQUEST_ENDED);
    }

    public static void waitExpired(NodeContext n, WaitExpired e) {
        RequestRow row = live(n, e, e.request(), e.attempt());
        if (row != null) {
            prefilling(n, e.request(), row, RequestReason.WAIT_EXPIRED);
        }
    }

    public static void finished(NodeContext n, RequestFinished e) {
        RequestRow row = live(n, e, e.request(), e.attempt());
        if (row == null) {
            return;
        }
        RequestState state = prefilling(n, e.request(), row, RequestReason.WAIT_EXPIRED);
        transition(n, e.request(), e.attempt(), state, RequestState.FINISHED, e.reason());
        endLease(n, row.lease(), LeaseEndReason.REQUEST_ENDED);
        WriteBacks.finished(n, e.request(), row);
    }

    public static void cancelled(NodeContext n, RequestCancelled e) {
        RequestRow row = live(n, e, e.request(), e.attempt());
        if (row != null) {
            end(n, e.request(), row, RequestState.CANCELLED, e.reason());
        }
    }

    public static void rejected(NodeContext n, RequestRejected e) {
        RequestRow row = live(n, e, e.request(), e.attempt());
        if (row != null) {
            end(n, e.request(), row, RequestState.REJECTED, e.reason());
        }
    }

    /** Ends an attempt that does not write back. */
    static void end(NodeContext n, String request, RequestRow row, RequestState state, RequestReason reason) {
        transition(n, request, row.attempt(), row.state(), state, reason);
        boolean lost = reason == RequestReason.NODE_LOST;
        endLease(n, row.lease(), lost ? LeaseEndReason.NODE_LOST : LeaseEndReason.REQUEST_ENDED);
    }

    public static void transition(NodeContext n, String request, int attempt, RequestState from, RequestState to, RequestReason reason) {
        n.fact(new RequestTransitioned(n.envelope(), request, attempt, from, to, reason));
    }

    public static void endLease(NodeContext n, @Nullable String lease, LeaseEndReason reason) {
        if (lease != null) {
            n.fact(new LeaseEnded(n.envelope(), lease, reason));
        }
    }

    /** Brings a waiting attempt to PREFILLING; returns its state after that. */
    private static RequestState prefilling(NodeContext n, String request, RequestRow row, RequestReason reason) {
        return switch (row.state()) {
            case SUBMITTED, PREFETCHING, PREFETCH_DONE -> {
                transition(n, request, row.attempt(), row.state(), RequestState.PREFILLING, reason);
                yield RequestState.PREFILLING;
            }
            case PREFILLING, DECODING, FINISHED, CANCELLED, REJECTED, UNKNOWN -> row.state();
        };
    }

    /** The row of an attempt in progress; null when it is not in progress: the event is then refused. */
    private static @Nullable RequestRow live(NodeContext n, Event e, String request, int attempt) {
        RequestRow row = n.request(request);
        if (row == null || !n.isCurrent(row.incarnation()) || attempt > row.attempt()) {
            n.refuse(e, RefusalReason.REQUEST_UNKNOWN, "Request " + request + " attempt " + attempt + " is not known");
        } else if (attempt < row.attempt()) {
            n.refuse(e, RefusalReason.STALE_ATTEMPT, "Attempt " + row.attempt() + " of " + request + " has begun");
        } else if (RequestStates.isEnd(row.state())) {
            n.refuse(e, RefusalReason.REQUEST_ENDED, request + " is " + row.state());
        } else {
            return row;
        }
        return null;
    }
}
