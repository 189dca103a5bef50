/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.api;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.tierlog.engine.v1.CancelRequest;
import io.tierlog.engine.v1.EngineServiceGrpc.EngineServiceBlockingStub;
import io.tierlog.engine.v1.EvictedRequest;
import io.tierlog.engine.v1.FinishRequest;
import io.tierlog.engine.v1.LoadReply;
import io.tierlog.engine.v1.LoadRequest;
import io.tierlog.engine.v1.Offer;
import io.tierlog.engine.v1.PrefilledRequest;
import io.tierlog.engine.v1.Ready;
import io.tierlog.engine.v1.SealedRequest;
import io.tierlog.engine.v1.SubmitReply;
import io.tierlog.engine.v1.SubmitRequest;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * One session with an agent: from Open to the end of its stream of notices, for whatever reason. Calls block; any thread may make them.
 *
 * <p>A call that fails without a typed refusal ends the session, since its effect is unknown.
 */
public final class AgentSession {
    /** So many refused submits in a row mean that the agent does not know this session any more. */
    private static final Metadata.Key<String> TRACEPARENT = Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);
    private static final int MAX_REFUSALS = 64;
    /** A broken connection ends the stream of notices about when it fails a call; a refusal does not. */
    private static final long STREAM_END_MS = 200;

    private final String session;
    private final long epoch;
    private final Timeouts timeouts;
    private final EngineServiceBlockingStub stub;
    private final Map<Attempt, CompletableFuture<Offer>> waiting = new ConcurrentHashMap<>();
    private final CompletableFuture<String> ended = new CompletableFuture<>();
    private final AtomicInteger refusals = new AtomicInteger();
    private volatile boolean closing;

    AgentSession(String session, long epoch, Timeouts timeouts, EngineServiceBlockingStub stub) {
        this.session = session;
        this.epoch = epoch;
        this.timeouts = timeouts;
        this.stub = stub;
    }

    /** One attempt of a request. */
    public record Attempt(String request, int number) {
        @Override
        public String toString() {
            return request + "/" + number;
        }
    }

    /**
     * What became of a submit.
     *
     * @param offer what may be loaded; empty when the engine's patience ended first
     * @param waited whether the agent asked to wait
     * @param nanos from the submit to the offer
     */
    public record Submitted(Optional<Offer> offer, boolean waited, long nanos) {}

    /** Names the session in calls. */
    public String id() {
        return session;
    }

    /** Epoch of the device pool this session knows. */
    public long epoch() {
        return epoch;
    }

    /** Whether new requests may come through it. */
    public boolean isOpen() {
        return !closing && !ended.isDone();
    }

    /** Completes with the reason when the session ends. */
    CompletableFuture<String> ended() {
        return ended;
    }

    /**
     * Submits an attempt and waits for its offer.
     *
     * @param traceparent W3C trace context of the attempt; empty for none
     */
    public Submitted submit(SubmitRequest request, Optional<String> traceparent) throws CallRefused, SessionLost, InterruptedException {
        Attempt attempt = new Attempt(request.getRequest(), request.getAttempt());
        CompletableFuture<Offer> ready = new CompletableFuture<>();
        waiting.put(attempt, ready);
        try {
            long start = System.nanoTime();
            SubmitReply reply = call("Submit", timeouts.callMs(), stub -> traceparent.map(text -> traced(stub, text)).orElse(stub).submit(request));
            refusals.set(0);
            Optional<Offer> offer =
                    reply.hasOffer() ? Optional.of(reply.getOffer()) : await(ready, timeouts.readyMs());
            return new Submitted(offer, !reply.hasOffer(), System.nanoTime() - start);
        } catch (CallRefused e) {
            if (refusals.incrementAndGet() == MAX_REFUSALS) {
                end(MAX_REFUSALS + " submits refused in a row, the last: " + e.getMessage());
            }
            throw e;
        } finally {
            waiting.remove(attempt);
        }
    }

    private static EngineServiceBlockingStub traced(EngineServiceBlockingStub stub, String traceparent) {
        Metadata headers = new Metadata();
        headers.put(TRACEPARENT, traceparent);
        return stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
    }

    private Optional<Offer> await(CompletableFuture<Offer> ready, long timeoutMs) throws SessionLost, InterruptedException {
        try {
            CompletableFuture.anyOf(ready, ended).get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return Optional.empty();
        } catch (ExecutionException e) {
            throw new IllegalStateException("neither of them fails", e);
        }
        if (!ready.isDone()) {
            throw new SessionLost("the session ended while a request waited: " + ended.join());
        }
        return Optional.of(ready.join());
    }

    /** Loads blocks; answers when the bytes are there. */
    public LoadReply load(LoadRequest request) throws CallRefused, SessionLost, InterruptedException {
        return call("Load", timeouts.loadMs(), stub -> stub.load(request));
    }

    /** The prompt is prefilled. */
    public void prefilled(PrefilledRequest request) throws CallRefused, SessionLost, InterruptedException {
        call("Prefilled", timeouts.callMs(), stub -> stub.prefilled(request));
    }

    /** A run of blocks is whole. */
    public void sealed(SealedRequest request) throws CallRefused, SessionLost, InterruptedException {
        call("Sealed", timeouts.callMs(), stub -> stub.sealed(request));
    }

    /** An attempt has ended. */
    public void finish(FinishRequest request) throws CallRefused, SessionLost, InterruptedException {
        call("Finish", timeouts.callMs(), stub -> stub.finish(request));
    }

    /** An attempt is cancelled. */
    public void cancel(CancelRequest request) throws CallRefused, SessionLost, InterruptedException {
        call("Cancel", timeouts.callMs(), stub -> stub.cancel(request));
    }

    /** Blocks have left the device. */
    public void evicted(EvictedRequest request) throws CallRefused, SessionLost, InterruptedException {
        call("Evicted", timeouts.callMs(), stub -> stub.evicted(request));
    }

    private <R> R call(String name, long timeoutMs, Function<EngineServiceBlockingStub, R> call)
            throws CallRefused, SessionLost, InterruptedException {
        if (ended.isDone()) {
            throw new SessionLost(ended.join());
        }
        try {
            return call.apply(stub.withDeadlineAfter(timeoutMs, TimeUnit.MILLISECONDS));
        } catch (StatusRuntimeException e) {
            if (Thread.interrupted()) {
                throw new InterruptedException(name + " was interrupted");
            }
            if (isRefusal(e.getStatus())) {
                throw new CallRefused(name, e.getStatus());
            }
            end(name + " failed: " + e.getStatus());
            throw new SessionLost(name + " failed: " + e.getStatus());
        } catch (NullPointerException | IllegalStateException e) {
            // What gRPC's transports throw at a call that begins while the other side is being taken down.
            end(name + " failed: " + e);
            throw new SessionLost(name + " failed: " + e);
        }
    }

    private boolean isRefusal(Status status) throws InterruptedException {
        return switch (status.getCode()) {
            case ALREADY_EXISTS, FAILED_PRECONDITION, INVALID_ARGUMENT, NOT_FOUND, OUT_OF_RANGE, RESOURCE_EXHAUSTED, ABORTED,
                    PERMISSION_DENIED, UNAUTHENTICATED, UNIMPLEMENTED -> true;
            case UNAVAILABLE -> !endsWithin(STREAM_END_MS);
            case OK, CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, DATA_LOSS -> false;
        };
    }

    /** Waits for the end of the session. */
    boolean endsWithin(long timeoutMs) throws InterruptedException {
        try {
            ended.get(timeoutMs, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException("it never fails", e);
        }
    }

    void ready(Ready notice) {
        CompletableFuture<Offer> ready = waiting.get(new Attempt(notice.getRequest(), notice.getAttempt()));
        if (ready != null) {
            ready.complete(notice.getOffer());
        }
    }

    void closing() {
        closing = true;
    }

    /** Ends the session; the first reason counts. */
    public void end(String reason) {
        ended.complete(reason);
    }
}
