/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What all gRPC services share: the caller's token, and problems as status and trailers. Static and without state. */
public final class GrpcCalls {
    private static final Context.Key<Optional<String>> TOKEN = Context.keyWithDefault("authorization", Optional.empty());
    private static final Context.Key<String> FROM = Context.keyWithDefault("from", "");
    private static final Metadata.Key<String> AUTHORIZATION_ENTRY = entry("authorization");
    private static final Metadata.Key<String> PROBLEM = entry("tierlog-problem");
    private static final Metadata.Key<String> ACTION = entry("tierlog-action");
    /** Findings in a description: more than a person reads at once, and mostly within what clients take. */
    private static final int FINDINGS = 20;

    /** Puts the call's token into its context. */
    static final ServerInterceptor AUTHORIZATION = new ServerInterceptor() {
        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
            Context context = Context.current().withValues(TOKEN, Optional.ofNullable(headers.get(AUTHORIZATION_ENTRY)),
                    FROM, String.valueOf(call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR)));
            return Contexts.interceptCall(context, call, headers, next);
        }
    };

    private GrpcCalls() {}

    /** The entry "authorization" of the current call; null without one. */
    public static @Nullable String token() {
        return TOKEN.get().orElse(null);
    }

    /** The address of the current caller. */
    public static String from() {
        return FROM.get();
    }

    /** A text entry of a call's metadata. */
    public static Metadata.Key<String> entry(String name) {
        return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
    }

    /** A problem as the end of a call: its status, up to 20 findings, and in the trailers its kind and action. */
    public static StatusRuntimeException refused(Problem problem) {
        Status status = switch (problem.kind()) {
            case INVALID_REQUEST, BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE -> Status.INVALID_ARGUMENT;
            case UNAUTHENTICATED -> Status.UNAUTHENTICATED;
            case FORBIDDEN -> Status.PERMISSION_DENIED;
            case ID_TAKEN -> Status.ALREADY_EXISTS;
            case NODE_UNKNOWN, MIGRATION_UNKNOWN -> Status.NOT_FOUND;
            case REFUSED, TOO_LATE -> Status.FAILED_PRECONDITION;
            case UNKNOWN_PATH, METHOD_NOT_ALLOWED -> Status.UNIMPLEMENTED;
            case NOT_OFFERED -> Status.UNIMPLEMENTED;
            case RATE_LIMITED -> Status.RESOURCE_EXHAUSTED;
            case OVERLOADED, NOT_READY, LOG_UNAVAILABLE -> Status.UNAVAILABLE;
            case INTERNAL -> Status.INTERNAL;
        };
        String findings = problem.findings().stream()
                .limit(FINDINGS)
                .map(finding -> finding.field() + " " + finding.detail())
                .collect(Collectors.joining("; "));
        String more = problem.findings().size() > FINDINGS ? "; and more" : "";
        Metadata trailers = new Metadata();
        trailers.put(PROBLEM, problem.kind().name());
        trailers.put(ACTION, ascii(problem.action()));
        return status.withDescription(StatusText.within(findings.isEmpty() ? problem.detail() : findings + more)).asRuntimeException(trailers);
    }

    /** The text as metadata can hold it. */
    private static String ascii(String text) {
        return new String(text.getBytes(StandardCharsets.US_ASCII), StandardCharsets.US_ASCII);
    }
}
