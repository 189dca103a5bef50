/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

import io.tierlog.schemas.RequestState;
import io.tierlog.schemas.decision.RequestAdmitted;
import io.tierlog.schemas.decision.RequestTransitioned;
import io.tierlog.schemas.event.RequestSubmitted;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Requests of a node in progress: legal steps, one end, nothing owned after it (I5). Confined to its node's fold. */
final class Requests {
    private final NodeFold node;
    private final Map<String, Live> live = new LinkedHashMap<>();
    private final List<Live> endedNow = new ArrayList<>();

    /** One attempt in progress. */
    static final class Live {
        final String request;
        final int attempt;
        final long incarnation;
        final long admittedAt;
        RequestState state = RequestState.SUBMITTED;
        @Nullable String lease;
        long endedAt;

        Live(String request, int attempt, long incarnation, long admittedAt) {
            this.request = request;
            this.attempt = attempt;
            this.incarnation = incarnation;
            this.admittedAt = admittedAt;
        }
    }

    Requests(NodeFold node) {
        this.node = node;
    }

    void state(FoldBytes io) {
        io.map(live, io::text, request -> live(io, request));
    }

    private static Live live(FoldBytes io, @Nullable Live known) {
        Live one = new Live(
                io.text(known == null ? null : known.request),
                io.int32(known == null ? 0 : known.attempt),
                io.int64(known == null ? 0 : known.incarnation),
                io.int64(known == null ? 0 : known.admittedAt));
        one.state = io.symbol(RequestState.class, known == null ? null : known.state);
        one.lease = io.optional(known == null ? null : known.lease);
        return known == null ? one : known;
    }

    /** The attempt, if it is in progress. */
    @Nullable Live find(String request, int attempt) {
        Live found = live.get(request);
        return found != null && found.attempt == attempt ? found : null;
    }

    void admitted(RequestAdmitted f, Cause cause) {
        Live earlier = live.get(f.request());
        if (earlier != null) {
            node.findings.say(Invariant.I5, "attempt " + f.attempt() + " of " + f.request() + " begins while attempt " + earlier.attempt
                    + " is " + earlier.state);
        }
        if (!(cause.event instanceof RequestSubmitted e) || !isAnswer(f, e)) {
            node.findings.say(Invariant.I5, "it admits something else than what was submitted: " + f.request());
        }
        live.put(f.request(), new Live(f.request(), f.attempt(), f.envelope().incarnation(), node.findings.offset()));
    }

    private static boolean isAnswer(RequestAdmitted f, RequestSubmitted e) {
        // The last token is always computed.
        int reusable = Math.min(e.keys().size(), Math.max(0, e.promptTokens() - 1) / e.blockTokens());
        return e.request().equals(f.request()) && e.attempt() == f.attempt() && e.namespace().equals(f.namespace())
                && e.keys().size() == f.wholeBlocks() && reusable == f.reusableBlocks() && e.deviceBlocks() == f.deviceBlocks()
                && f.hostBlocks() <= f.wholeBlocks();
    }

    void transitioned(RequestTransitioned f) {
        Live request = find(f.request(), f.attempt());
        if (request == null) {
            node.findings.say(Invariant.I5, "attempt " + f.attempt() + " of " + f.request() + " becomes " + f.to()
                    + ", and it has ended or never began");
            return;
        }
        if (request.state != f.from() || !isLegal(f.from(), f.to())) {
            node.findings.say(Invariant.I5, f.request() + " is " + request.state + " and goes from " + f.from() + " to " + f.to());
        }
        request.state = f.to();
        if (isEnd(f.to())) {
            live.remove(f.request());
            request.endedAt = node.findings.offset();
            if (!node.isStale(request.incarnation)) {
                endedNow.add(request);
            }
        }
    }

    /** What ended with the last decisions owns nothing now. */
    void closeCause() {
        if (endedNow.isEmpty()) {
            return;
        }
        for (Live ended : endedNow) {
            String lease = ended.lease;
            if (lease != null && node.leases.isLive(lease)) {
                node.findings.sayOfDecision(Invariant.I5, ended.endedAt, ended.request + " ends, and its lease " + lease + " does not");
            }
        }
        endedNow.clear();
    }

    void swept() {
        for (Live one : live.values()) {
            if (node.isStale(one.incarnation)) {
                node.findings.say(Invariant.I5, one.request + " of incarnation " + one.incarnation + " goes on after the sweep");
            }
        }
    }

    void atRest() {
        for (Live one : live.values()) {
            boolean waits = switch (one.state) {
                case SUBMITTED, PREFETCHING, PREFETCH_DONE -> true;
                case UNKNOWN, PREFILLING, DECODING, FINISHED, CANCELLED, REJECTED -> false;
            };
            node.findings.sayOfDecision(waits ? Invariant.I6 : Invariant.I5, one.admittedAt, "at rest " + one.request + " is " + one.state);
        }
    }

    private static boolean isEnd(RequestState state) {
        return state == RequestState.FINISHED || state == RequestState.CANCELLED || state == RequestState.REJECTED;
    }

    private static boolean isLegal(RequestState from, RequestState to) {
        return switch (to) {
            case PREFETCHING -> from == RequestState.SUBMITTED;
            case PREFETCH_DONE -> from == RequestState.PREFETCHING;
            case PREFILLING -> from == RequestState.SUBMITTED || from == RequestState.PREFETCHING || from == RequestState.PREFETCH_DONE;
            case DECODING -> from == RequestState.PREFILLING;
            case FINISHED -> from == RequestState.PREFILLING || from == RequestState.DECODING;
            case CANCELLED, REJECTED -> !isEnd(from);
            case SUBMITTED, UNKNOWN -> false;
        };
    }
}
