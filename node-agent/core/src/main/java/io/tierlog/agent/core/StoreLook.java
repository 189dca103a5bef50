/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.api.AgentInput.StoreProbed;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.context.Component;
import io.tierlog.schemas.Bytes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Asks the store, before an agent registers again, which blocks of the host it has: {@link HostReport} reports what was seen now, and nothing of
 * what was known before. A store that does not answer within {@code AgentLimits.Times.probeMs} has been seen with nothing more.
 *
 * <p>For the core's one thread. Trade-off: the registration waits for one probe of each block at most that long; of a host that is too large for
 * that, the blocks nearest to their root are asked for first.
 */
final class StoreLook implements Component {
    private record Probe(String namespace, List<Bytes> keys) {}

    private final AgentContext context;
    private final Deque<Probe> queue = new ArrayDeque<>();
    private final Map<Long, Probe> asked = new LinkedHashMap<>();
    private long endsAtMs = Long.MAX_VALUE;

    StoreLook(AgentContext context) {
        this.context = context;
    }

    /** Forgets what the store was known to have, and asks. */
    void begin() {
        endsAtMs = context.nowMs() + context.limits().times().probeMs();
        Map<String, List<Bytes>> byNamespace = new LinkedHashMap<>();
        context.pages().allServing().stream().sorted(Comparator.comparingInt(page -> page.block().index())).forEach(page -> {
            context.pages().markHeldInStore(page, false);
            byNamespace.computeIfAbsent(page.namespace(), any -> new ArrayList<>()).add(page.block().key());
        });
        int most = context.limits().units().blocks();
        byNamespace.forEach((namespace, keys) -> {
            for (int from = 0; from < keys.size(); from += most) {
                queue.add(new Probe(namespace, keys.subList(from, Math.min(from + most, keys.size()))));
            }
        });
        ask();
    }

    private void ask() {
        while (!queue.isEmpty() && asked.size() < context.limits().units().fetches()) {
            Probe next = queue.remove();
            long unit = context.nextUnit();
            asked.put(unit, next);
            context.ports().store().probe(unit, next.namespace(), next.keys());
        }
    }

    /** The store has answered; false when the probe was not one of these. */
    boolean probed(StoreProbed in) {
        Probe probe = asked.remove(in.unit());
        if (probe == null) {
            return false;
        }
        if (!in.reachable()) {
            end();
            return true;
        }
        int present = Math.clamp(in.present(), 0, probe.keys().size());
        probe.keys().subList(0, present).forEach(key ->
                context.pages().serving(probe.namespace(), key).ifPresent(page -> context.pages().markHeldInStore(page, true)));
        if (present + 1 < probe.keys().size()) { // behind the first that it lacks
            queue.addFirst(new Probe(probe.namespace(), probe.keys().subList(present + 1, probe.keys().size())));
        }
        ask();
        return true;
    }

    /** Whether it has asked for everything or its time is over. */
    boolean ended() {
        return asked.isEmpty();
    }

    @Override
    public long nextDeadlineMs() {
        return asked.isEmpty() ? Long.MAX_VALUE : endsAtMs;
    }

    @Override
    public void expire() {
        if (context.nowMs() >= endsAtMs) {
            end();
        }
    }

    private void end() {
        queue.clear();
        asked.keySet().forEach(context.ports().store()::cancelProbe);
        asked.clear();
    }
}
