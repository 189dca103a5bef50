/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.grpc.Status;
import io.tierlog.tls.TlsFault;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Failed calls to other instances. It counts each. It also logs when an instance refuses this one's token, or TLS fails, since neither ends by
 * itself: once for each instance in {@value #AGAIN_MINUTES} minutes. Safe for use by several threads.
 */
final class ForwardFailures {
    private static final Logger LOG = LoggerFactory.getLogger(ForwardFailures.class);
    private static final int AGAIN_MINUTES = 10;
    private static final int PEERS = 256;

    private final DirectoryMetrics metrics;
    private final LongSupplier nanos;
    private final Consumer<String> warnings;
    /** When a warning was logged for a peer, the earliest first. */
    private final Map<Owners.Peer, Long> warnedAt = new LinkedHashMap<>();

    /** Why there is no answer. */
    enum Reason {
        /** The instance does not know the token, or it may not do this. */
        REFUSED,
        /** There was none within the deadline. */
        LATE,
        /** It was not made: too many were under way. */
        FULL,
        /** Anything else. */
        FAILED
    }

    /** As many calls are under way as may be. */
    static final class TooMany extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TooMany(String message) {
            super(message, null, false, false);
        }
    }

    /** Failures to count and to log. */
    ForwardFailures(DirectoryMetrics metrics) {
        this(metrics, System::nanoTime, LOG::warn);
    }

    /** The same with a clock of monotonic nanoseconds and a listener of one's own, for tests. */
    ForwardFailures(DirectoryMetrics metrics, LongSupplier nanos, Consumer<String> warnings) {
        this.metrics = metrics;
        this.nanos = nanos;
        this.warnings = warnings;
    }

    /** Takes one. */
    void failed(Owners.Peer peer, Throwable failure) {
        Reason reason = reason(failure);
        metrics.forwardFailed(reason);
        Optional<TlsFault> tls = TlsFault.of(failure);
        if (tls.isPresent() && isNews(peer)) {
            warnings.accept("the instance at " + peer + " cannot be called, so what only that one has is answered by a standby or is UNKNOWN: "
                    + tls.get().advice());
        } else if (reason == Reason.REFUSED && isNews(peer)) {
            warnings.accept("the instance at " + peer + " does not let this one in, so what only that one has is answered by a standby or is"
                    + " UNKNOWN: " + failure.getMessage() + "; give all instances the same --api-tokens, and --peer-token-file with an operator's"
                    + " token in it without namespaces=");
        } else {
            LOG.debug("the instance at {} does not answer: {}", peer, failure.toString());
        }
    }

    private static Reason reason(Throwable failure) {
        if (failure instanceof TimeoutException) {
            return Reason.LATE;
        }
        if (failure instanceof TooMany) {
            return Reason.FULL;
        }
        return switch (Status.fromThrowable(failure).getCode()) {
            case UNAUTHENTICATED, PERMISSION_DENIED -> Reason.REFUSED;
            case DEADLINE_EXCEEDED -> Reason.LATE;
            case OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE,
                    UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS -> Reason.FAILED;
        };
    }

    private synchronized boolean isNews(Owners.Peer peer) {
        long now = nanos.getAsLong();
        Long before = warnedAt.get(peer);
        if (before != null && now - before < TimeUnit.MINUTES.toNanos(AGAIN_MINUTES)) {
            return false;
        }
        warnedAt.remove(peer);
        if (warnedAt.size() >= PEERS) {
            Iterator<Owners.Peer> earliest = warnedAt.keySet().iterator();
            earliest.next();
            earliest.remove();
        }
        warnedAt.put(peer, now);
        return true;
    }
}
