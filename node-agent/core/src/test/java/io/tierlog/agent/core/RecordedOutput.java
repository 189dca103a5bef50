/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.tierlog.agent.core.port.EngineReplies;
import io.tierlog.agent.core.port.EventSink;
import io.tierlog.agent.core.port.Offer;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Records all output of the core: replies and notices to engines, events to the log. */
final class RecordedOutput implements EngineReplies, EventSink {
    sealed interface Reply {}

    record Offered(Offer offer) implements Reply {}

    record Waiting() implements Reply {}

    record Loaded(int blocks, String reason) implements Reply {}

    record Reserved(String lease, long leaseMs) implements Reply {}

    record Missing(int position) implements Reply {}

    record Found(List<Whereabouts> blocks) implements Reply {}

    record Saved(List<BlockAnswer> blocks) implements Reply {}

    record Read(List<BlockAnswer> blocks) implements Reply {}

    record Done() implements Reply {}

    record Refused(Refusal refusal, String detail, boolean retry) implements Reply {}

    sealed interface Notice {}

    record Ready(String request, int attempt, Offer offer) implements Notice {}

    record Released(String request, int attempt, List<Integer> pages) implements Notice {}

    record Failed(String request, int attempt, List<Integer> pages, OperationReason reason) implements Notice {}

    final Map<Long, Reply> replies = new HashMap<>();
    final List<Notice> notices = new ArrayList<>();
    final List<Event> events = new ArrayList<>();
    boolean congested;
    long incarnation = 1;

    private void reply(long call, Reply reply) {
        assertNull(replies.put(call, reply), () -> "call " + call + " is answered twice");
    }

    @Override
    public void offer(long call, Offer offer) {
        reply(call, new Offered(offer));
    }

    @Override
    public void waiting(long call) {
        reply(call, new Waiting());
    }

    @Override
    public void ready(String session, String request, int attempt, Offer offer) {
        notices.add(new Ready(request, attempt, offer));
    }

    @Override
    public void released(String session, String request, int attempt, List<Integer> pages) {
        notices.add(new Released(request, attempt, pages));
    }

    @Override
    public void loaded(long call, int loaded, String reason) {
        reply(call, new Loaded(loaded, reason));
    }

    @Override
    public void reserved(long call, String lease, long leaseMs) {
        reply(call, new Reserved(lease, leaseMs));
    }

    @Override
    public void found(long call, List<Whereabouts> blocks) {
        reply(call, new Found(blocks));
    }

    @Override
    public void missing(long call, int position) {
        reply(call, new Missing(position));
    }

    @Override
    public void read(long call, List<BlockAnswer> blocks) {
        reply(call, new Read(blocks));
    }

    @Override
    public void saved(long call, List<BlockAnswer> blocks) {
        reply(call, new Saved(blocks));
    }

    @Override
    public void failed(String session, String request, int attempt, List<Integer> pages, OperationReason reason) {
        notices.add(new Failed(request, attempt, pages, reason));
    }

    @Override
    public void done(long call) {
        reply(call, new Done());
    }

    @Override
    public void refused(long call, Refusal refusal, String detail, boolean retry) {
        reply(call, new Refused(refusal, detail, retry));
    }

    @Override
    public void append(String aggregate, String cause, Function<Envelope, Event> withEnvelope) {
        events.add(withEnvelope.apply(
                new Envelope(aggregate, "agent/a/p1", incarnation, events.size() + 1, 0, 0, cause.isEmpty() ? null : cause, null, null)));
    }

    @Override
    public boolean congested() {
        return congested;
    }

    // --- for tests

    <T extends Reply> T reply(long call, Class<T> type) {
        return assertInstanceOf(type, assertNotNull2(replies.get(call), "no answer to call " + call));
    }

    <T extends Event> List<T> events(Class<T> type) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }

    /** The one event of that type. */
    <T extends Event> T event(Class<T> type) {
        List<T> found = events(type);
        assertEquals(1, found.size(), () -> type.getSimpleName() + " among " + events);
        return found.getFirst();
    }

    <T extends Event> T last(Class<T> type) {
        return events(type).getLast();
    }

    <T extends Notice> List<T> notices(Class<T> type) {
        return notices.stream().filter(type::isInstance).map(type::cast).toList();
    }

    List<Integer> releasedPages(String request) {
        return notices(Released.class).stream()
                .filter(notice -> notice.request().equals(request))
                .flatMap(notice -> notice.pages().stream())
                .toList();
    }

    private static <T> T assertNotNull2(@org.jspecify.annotations.Nullable T value, String message) {
        assertNotNull(value, message);
        return java.util.Objects.requireNonNull(value);
    }
}
