/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import com.sun.management.ThreadMXBean;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.Attempt;
import io.tierlog.agent.core.port.DeviceCopies;
import io.tierlog.agent.core.port.DiskTransfers;
import io.tierlog.agent.core.port.EngineReplies;
import io.tierlog.agent.core.port.EventSink;
import io.tierlog.agent.core.port.Ports;
import io.tierlog.agent.core.port.StoreTransfers;
import io.tierlog.agent.core.port.UnitWatch;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.event.WaitExpired;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RequestTracesTest {
    private static final int CALLS = 10_000;
    private static final Envelope ENVELOPE = new Envelope("node/a", "agent/a/p", 1, 1, 0, 0, null, null, null);

    private static <T> T none(Class<T> port) {
        return port.cast(Proxy.newProxyInstance(port.getClassLoader(), new Class<?>[] {port}, (_, _, _) -> null));
    }

    private static Ports ports() {
        return ports(new Sink());
    }

    private static Ports ports(Sink sink) {
        return new Ports(none(DeviceCopies.class), none(StoreTransfers.class), none(DiskTransfers.class), none(EngineReplies.class), sink);
    }

    private static final class Sink implements EventSink {
        private @Nullable String context;

        @Override
        public void append(String aggregate, String cause, Function<Envelope, Event> withEnvelope) {
            context = withEnvelope.apply(ENVELOPE).envelope().traceContext();
        }

        @Override
        public boolean congested() {
            return false;
        }
    }

    @Test
    void offThePortsAreThoseOfBefore() {
        Ports ports = ports();
        Ports around = new RequestTraces().around(ports);

        assertSame(ports.device(), around.device());
        assertSame(ports.store(), around.store());
        assertSame(ports.peers(), around.peers());
        assertSame(UnitWatch.NONE, around.watch());
    }

    private static AgentInput submit(long call, String context) {
        return new AgentInput.Submitted(call, new Attempt("s", "r", 1), "n", List.of(), 1, 1, 0, List.of(), false, true, 0, context);
    }

    private static @Nullable String carried(Ports around, Sink sink) {
        around.events().append("node/a", "", e -> new WaitExpired(e, "r", 1, 1));
        return sink.context;
    }

    /** A call that is refused brings no context; one that repeats an attempt changes none. */
    @Test
    void anAttemptKeepsTheContextOfTheSubmitThatBeganIt() {
        Sink sink = new Sink();
        RequestTraces traces = new RequestTraces();
        Ports around = traces.around(ports(sink));
        traces.before(submit(1, "refused"));
        around.engines().refused(1, EngineReplies.Refusal.BUSY, "", true);
        assertNull(carried(around, sink));
        traces.before(submit(2, "first"));
        around.engines().waiting(2);
        traces.before(submit(3, "repeated"));
        around.engines().waiting(3);
        assertEquals("first", carried(around, sink));
        traces.before(submit(4, "another"));
        around.engines().refused(4, EngineReplies.Refusal.BAD_ARGUMENT, "", false);
        assertEquals("first", carried(around, sink));
    }

    @Test
    void offNothingIsAllocatedForARequestWithoutATrace() {
        RequestTraces traces = new RequestTraces();
        Ports ports = traces.around(ports());
        AgentInput submit = new AgentInput.Submitted(
                1, new Attempt("s", "r", 1), "n", List.of(), 1, 1, 0, List.of(), false, true);
        AgentInput probed = new AgentInput.StoreProbed(1, 0, true);
        Event event = new Tick(ENVELOPE, 1);
        Function<Envelope, Event> same = _ -> event;
        Runnable calls = () -> {
            for (int i = 0; i < CALLS; i++) {
                traces.before(submit);
                traces.before(probed);
                ports.events().append("node/a", "", same);
                ports.watch().begun("o", 1, 1);
            }
        };
        calls.run(); // links the call sites
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        calls.run();
        long bytes = threads.getCurrentThreadAllocatedBytes() - before;

        assertEquals(0, bytes / CALLS, "bytes for each call, of " + bytes);
    }
}
