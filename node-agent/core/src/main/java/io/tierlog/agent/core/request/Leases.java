/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.request;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.CallGone;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.context.Component;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.time.Deadlines;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Predicate;

/**
 * Leases that engines hold: each names the pins of some blocks on the host. An offer comes with a lease that lasts as long as the offer; a lease that
 * an engine reserves outside of requests expires. A load consumes its lease: a later call with that name is refused as unknown.
 *
 * <p>For the core's one thread.
 */
public final class Leases implements Component {
    /** Whose blocks a lease names. */
    public sealed interface Lease {
        /** Of the session that may use it. */
        String session();
    }

    /** The offer of an attempt: its pins are the attempt's. */
    public record Offered(LiveAttempt attempt) implements Lease {
        @Override
        public String session() {
            return attempt.id().session();
        }
    }

    /** Blocks reserved outside of requests, by that call: the lease's own name pins their pages. */
    public record Reserved(String session, String namespace, long call, List<Page> pages) implements Lease {
        public Reserved {
            pages = pages.stream().distinct().toList();
        }
    }

    private final AgentContext context;
    private final SequencedMap<String, Lease> open = new LinkedHashMap<>();
    /** In how many open reservations each page is. */
    private final SequencedMap<Page, Integer> reserved = new LinkedHashMap<>();
    private final Deadlines<String> ends = new Deadlines<>();

    public Leases(AgentContext context) {
        this.context = context;
    }

    @Override
    public long nextDeadlineMs() {
        return ends.nextMs();
    }

    /** The open lease of that name, if it is the session's. */
    public Optional<Lease> find(String session, String lease) {
        return Optional.ofNullable(open.get(lease)).filter(found -> found.session().equals(session));
    }

    /** Reservations of the session that are open. */
    public long reservations(String session) {
        return open.values().stream().filter(lease -> lease instanceof Reserved reserved && reserved.session().equals(session)).count();
    }

    /** Host pages that open reservations would keep with these. */
    public long reservedWith(List<Page> more) {
        return reserved.size() + more.stream().distinct().filter(page -> !reserved.containsKey(page)).count();
    }

    /** Leases that are open, of offers and of reservations. */
    public int open() {
        return open.size();
    }

    /** A name for what is offered to the attempt. */
    String offered(LiveAttempt attempt) {
        String lease = context.nextLease();
        open.put(lease, new Offered(attempt));
        return lease;
    }

    /** Pins its pages until {@code leaseMs} from now, and names the lease. */
    public String reserve(Reserved whose, long leaseMs) {
        String lease = context.nextLease();
        open.put(lease, whose);
        ends.set(lease, context.nowMs() + leaseMs);
        for (Page page : whose.pages()) {
            context.pages().pin(lease, page);
            reserved.merge(page, 1, Integer::sum);
        }
        return lease;
    }

    /** Closes the lease; its pins stay, for the load that took it. A lease that is not open is ignored. */
    public void end(String lease) {
        if (open.remove(lease) instanceof Reserved over) {
            over.pages().forEach(page -> reserved.computeIfPresent(page, (same, times) -> times == 1 ? null : times - 1));
        }
        ends.clear(lease);
    }

    /** Ends a reservation, its pins too. */
    public void release(String lease) {
        end(lease);
        context.pages().unpinAll(lease);
    }

    /** Reservations whose end has come are over. */
    @Override
    public void expire() {
        for (Optional<String> due = ends.pollDue(context.nowMs()); due.isPresent(); due = ends.pollDue(context.nowMs())) {
            context.counters().increment(AgentCounter.LEASES_EXPIRED);
            release(due.get());
        }
    }

    /** The caller has not received the name of what this call reserved. */
    @Override
    public void callGone(CallGone gone) {
        releaseAll(lease -> lease.call() == gone.call());
    }

    /** The session is over, and its reservations with it; offers end with their attempts. */
    @Override
    public void sessionGone(String session) {
        releaseAll(lease -> lease.session().equals(session));
    }

    private void releaseAll(Predicate<Reserved> which) {
        List<String> over = open.entrySet().stream()
                .filter(entry -> entry.getValue() instanceof Reserved reserved && which.test(reserved))
                .map(Map.Entry::getKey)
                .toList();
        over.forEach(this::release);
    }
}
