/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.controller.http.StatusText;

/**
 * The one table from refusals to gRPC statuses. Static and without state.
 *
 * <pre>
 *   UNKNOWN_SESSION, UNKNOWN_REQUEST,
 *   UNKNOWN_LEASE, NOT_HELD                       NOT_FOUND
 *   INSTANCE_TAKEN                                ALREADY_EXISTS
 *   LAYOUT_MISMATCH, NOT_OFFERED, NOT_REGISTERED  FAILED_PRECONDITION
 *   BAD_ARGUMENT                                  INVALID_ARGUMENT
 *   BUSY                                          RESOURCE_EXHAUSTED
 *   CLOSING, NOT_ON_THE_LOG                       UNAVAILABLE
 *   EXPIRED                                       DEADLINE_EXCEEDED
 * </pre>
 *
 * <p>The trailers say it for programs: {@code tierlog-refusal} is the name on the left, {@code tierlog-retry} whether the same call may
 * succeed later. NOT_HELD and EXPIRED are reasons of the API; the first has the position of the key in {@code tierlog-position}. Memory that the
 * device does not open is a LAYOUT_MISMATCH, BUSY when capacity is exhausted, CLOSING when the device is lost.
 */
final class EngineErrors {
    static final Metadata.Key<String> REFUSAL = Metadata.Key.of("tierlog-refusal", Metadata.ASCII_STRING_MARSHALLER);
    static final Metadata.Key<String> RETRY = Metadata.Key.of("tierlog-retry", Metadata.ASCII_STRING_MARSHALLER);

    static final Metadata.Key<String> POSITION = Metadata.Key.of("tierlog-position", Metadata.ASCII_STRING_MARSHALLER);

    private EngineErrors() {}

    /** A block that does not serve on the host, so that none is reserved. */
    static StatusRuntimeException missing(int position) {
        Metadata trailers = new Metadata();
        trailers.put(REFUSAL, "NOT_HELD");
        trailers.put(RETRY, "false");
        trailers.put(POSITION, Integer.toString(position));
        return Status.NOT_FOUND
                .withDescription("the key at position " + position + " does not serve on the host; nothing is reserved")
                .asRuntimeException(trailers);
    }

    /** A call of a session that is not open. */
    static StatusRuntimeException unknownSession() {
        return of(Refusal.UNKNOWN_SESSION, "no such session: open one, and use the id of its first notice", false);
    }

    /** A call whose deadline has passed. */
    static StatusRuntimeException expired(String detail) {
        Metadata trailers = new Metadata();
        trailers.put(REFUSAL, "EXPIRED");
        trailers.put(RETRY, "true");
        return Status.DEADLINE_EXCEEDED.withDescription(detail).asRuntimeException(trailers);
    }

    static StatusRuntimeException of(Refusal refusal, String detail, boolean retry) {
        Metadata trailers = new Metadata();
        trailers.put(REFUSAL, refusal.name());
        trailers.put(RETRY, Boolean.toString(retry));
        return status(refusal).withDescription(StatusText.within(detail)).asRuntimeException(trailers);
    }

    /** The error of an engine whose memory the device does not open. */
    static StatusRuntimeException of(DeviceFault fault) {
        Refusal refusal = switch (fault.kind()) {
            case INVALID_VALUE, INVALID_HANDLE, UNSUPPORTED, MEMORY_GONE, COPY_FAILED -> Refusal.LAYOUT_MISMATCH;
            case OUT_OF_MEMORY, NOT_READY -> Refusal.BUSY;
            case NOT_INITIALIZED, ILLEGAL_ADDRESS, LAUNCH_FAILED, DEVICE_LOST, UNKNOWN -> Refusal.CLOSING;
        };
        return of(refusal, String.valueOf(fault.getMessage()), refusal == Refusal.BUSY);
    }

    private static Status status(Refusal refusal) {
        return switch (refusal) {
            case UNKNOWN_SESSION, UNKNOWN_REQUEST, UNKNOWN_LEASE -> Status.NOT_FOUND;
            case INSTANCE_TAKEN -> Status.ALREADY_EXISTS;
            case LAYOUT_MISMATCH, NOT_OFFERED, NOT_REGISTERED -> Status.FAILED_PRECONDITION;
            case BAD_ARGUMENT -> Status.INVALID_ARGUMENT;
            case BUSY -> Status.RESOURCE_EXHAUSTED;
            case CLOSING, NOT_ON_THE_LOG -> Status.UNAVAILABLE;
        };
    }
}
