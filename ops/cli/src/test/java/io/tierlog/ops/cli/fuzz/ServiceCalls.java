/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.fuzz;

import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.tierlog.directory.v1.StreamResponse;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Gives bytes to every method of a gRPC service as gRPC's server does: the parser of the method, its handler, the service. On the thread that calls,
 * so that what it allocates is counted. A fault of the service, and a refusal that no client could read, is an exception.
 */
final class ServiceCalls implements FuzzTarget.Decoder {
    /** What clients of gRPC take of trailers by default. */
    private static final int MOST_TRAILERS = 8 << 10;
    private static final int ENTRY = 32;
    /** Less than the time after which a decoder hangs. */
    private static final long WAIT_S = 10;

    private final Supplier<ServerServiceDefinition> service;
    private final boolean isWaitedFor;
    private final Set<String> answered = new TreeSet<>();

    /**
     * Calls of a service.
     *
     * @param isWaitedFor whether another thread may end calls, and every call has an end; otherwise the caller goes when it has none at once
     */
    ServiceCalls(Supplier<ServerServiceDefinition> service, boolean isWaitedFor) {
        this.service = service;
        this.isWaitedFor = isWaitedFor;
    }

    @Override
    public void decode(byte[] message) throws InterruptedException {
        for (ServerMethodDefinition<?, ?> method : service.get().getMethods()) {
            call(method, message);
        }
    }

    /** Names of the methods that have answered a call with a message. */
    Set<String> answered() {
        return answered;
    }

    /** Names of all methods. */
    Set<String> methods() {
        Set<String> names = new TreeSet<>();
        service.get().getMethods().forEach(method -> names.add(name(method.getMethodDescriptor())));
        return names;
    }

    private static String name(MethodDescriptor<?, ?> method) {
        return String.valueOf(method.getBareMethodName());
    }

    private <Q, A> void call(ServerMethodDefinition<Q, A> method, byte[] message) throws InterruptedException {
        Q request;
        try {
            request = method.getMethodDescriptor().parseRequest(new ByteArrayInputStream(message));
        } catch (StatusRuntimeException e) {
            if (e.getCause() instanceof InvalidProtocolBufferException) {
                return;
            }
            throw e;
        }
        Call<Q, A> call = new Call<>(method.getMethodDescriptor());
        ServerCall.Listener<Q> listener = method.getServerCallHandler().startCall(call, new Metadata());
        listener.onReady();
        listener.onMessage(request);
        listener.onHalfClose();
        boolean ended = isWaitedFor ? call.ended.await(WAIT_S, TimeUnit.SECONDS) : call.ended.getCount() == 0;
        if (ended) {
            listener.onComplete();
        } else if (isWaitedFor) {
            throw new IllegalStateException(name(method.getMethodDescriptor()) + " does not answer");
        } else {
            listener.onCancel();
        }
        if (call.answers > 0) {
            answered.add(name(method.getMethodDescriptor()));
        }
        if (call.finding.isPresent()) {
            throw call.finding.get();
        }
    }

    /** The server's side of a call. */
    private static final class Call<Q, A> extends ServerCall<Q, A> {
        private final MethodDescriptor<Q, A> method;
        private final CountDownLatch ended = new CountDownLatch(1);
        private volatile int answers;
        private volatile Optional<IllegalStateException> finding = Optional.empty();

        Call(MethodDescriptor<Q, A> method) {
            this.method = method;
        }

        @Override
        public void request(int messages) {}

        @Override
        public void sendHeaders(Metadata headers) {}

        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // By one thread at a time.
        public void sendMessage(A message) {
            if (message instanceof StreamResponse reply && reply.hasProblem()) {
                // The method whose refusals are messages, so that the stream goes on.
                if (reply.getProblem().getKind().equals("INTERNAL")) {
                    finding = Optional.of(new IllegalStateException(name(method) + " fails: " + reply.getProblem().getDetail()));
                }
            } else {
                answers++;
            }
            method.streamResponse(message);
        }

        @Override
        public void close(Status status, Metadata trailers) {
            if (status.getCode() == Status.Code.INTERNAL || status.getCode() == Status.Code.UNKNOWN) {
                finding = Optional.of(new IllegalStateException(name(method) + " fails: " + status, status.getCause()));
            }
            int size = size(status, trailers);
            if (size > MOST_TRAILERS) {
                finding = Optional.of(new IllegalStateException(name(method) + " refuses with " + size + " bytes of trailers, of which clients take "
                        + MOST_TRAILERS));
            }
            ended.countDown();
        }

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public MethodDescriptor<Q, A> getMethodDescriptor() {
            return method;
        }
    }

    /** As HTTP/2 counts a list of headers; gRPC writes what is not printable ASCII as %XX. */
    private static int size(Status status, Metadata trailers) {
        int size = ENTRY + "grpc-status".length() + 2;
        if (status.getDescription() != null) {
            size += ENTRY + "grpc-message".length();
            for (byte one : status.getDescription().getBytes(StandardCharsets.UTF_8)) {
                size += one < ' ' || one >= '~' || one == '%' ? 3 : 1;
            }
        }
        for (String key : trailers.keys()) {
            String value = trailers.get(Metadata.Key.of(key, Metadata.ASCII_STRING_MARSHALLER));
            size += ENTRY + key.length() + String.valueOf(value).length();
        }
        return size;
    }
}
