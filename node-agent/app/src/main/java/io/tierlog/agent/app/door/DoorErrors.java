/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.door;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.tierlog.agent.core.port.EngineReplies.Refusal;

/**
 * The one table from refusals to gRPC statuses. Static and without state.
 *
 * <pre>
 *   UNKNOWN_SESSION, UNKNOWN_REQUEST              NOT_FOUND
 *   INSTANCE_TAKEN                                ALREADY_EXISTS
 *   LAYOUT_MISMATCH, NOT_OFFERED, NOT_REGISTERED  FAILED_PRECONDITION
 *   BAD_ARGUMENT                                  INVALID_ARGUMENT
 *   BUSY                                          RESOURCE_EXHAUSTED
 *   CLOSING                                       UNAVAILABLE
 * </pre>
 *
 * <p>The trailers say it for programs: {@code tierlog-refusal} is the name on the left, {@code tierlog-retry} whether the same call may
 * succeed later.
 */
final class DoorErrors {
    static final Metadata.Key<String> REFUSAL = Metadata.Key.of("tierlog-refusal", Metadata.ASCII_STRING_MARSHALLER);
    static final Metadata.Key<String> RETRY = Metadata.Key.of("tierlog-retry", Metadata.ASCII_STRING_MARSHALLER);

    private DoorErrors() {}

    static StatusRuntimeException of(Refusal refusal, String detail, boolean retry) {
        Metadata trailers = new Metadata();
        trailers.put(REFUSAL, refusal.name());
        trailers.put(RETRY, Boolean.toString(retry));
        return status(refusal).withDescription(detail).asRuntimeException(trailers);
    }

    private static Status status(Refusal refusal) {
        return switch (refusal) {
            case UNKNOWN_SESSION, UNKNOWN_REQUEST -> Status.NOT_FOUND;
            case INSTANCE_TAKEN -> Status.ALREADY_EXISTS;
            case LAYOUT_MISMATCH, NOT_OFFERED, NOT_REGISTERED -> Status.FAILED_PRECONDITION;
            case BAD_ARGUMENT -> Status.INVALID_ARGUMENT;
            case BUSY -> Status.RESOURCE_EXHAUSTED;
            case CLOSING -> Status.UNAVAILABLE;
        };
    }
}
