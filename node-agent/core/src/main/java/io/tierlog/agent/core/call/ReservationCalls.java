/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.call;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.LeaseReleased;
import io.tierlog.agent.core.api.AgentInput.ReserveCalled;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.engine.EngineCallChecks;
import io.tierlog.agent.core.engine.EngineSessions;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.request.Leases;
import io.tierlog.agent.core.request.LiveAttempt;
import io.tierlog.agent.core.request.Requests;
import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reservations: blocks that an engine wants to keep on the host outside of requests, all of them or none, and the release of leases. It begins no
 * transfer. For the core's one thread.
 */
public final class ReservationCalls {
    private final AgentContext context;
    private final EngineSessions engines;
    private final Requests requests;
    private final Leases leases;

    public ReservationCalls(AgentContext context, EngineSessions engines, Requests requests, Leases leases) {
        this.context = context;
        this.engines = engines;
        this.requests = requests;
        this.leases = leases;
    }

    public void reserve(ReserveCalled in) {
        Optional<Refusal> session = engines.whyNot(in.session());
        Optional<String> wrong = EngineCallChecks.keys(in.namespace(), in.keys(), context.limits().bounds().blocksPerCall());
        if (session.isPresent()) {
            engines.refuse(in.call(), session.get(), EngineSessions.FIRST, false);
        } else if (wrong.isPresent() || in.leaseMs() < 0) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, wrong.orElse("lease_ms must be 0 or more"), false);
        } else if (!context.takesWork()) {
            engines.refuse(in.call(), Refusal.CLOSING, "The agent stops", false);
        } else if (leases.reservations(in.session()) >= context.limits().engines().leases()) {
            engines.refuse(in.call(), Refusal.BUSY,
                    context.limits().engines().leases() + " reservations of the session are open: load or release one", true);
        } else {
            pin(in);
        }
    }

    private void pin(ReserveCalled in) {
        List<Page> pages = new ArrayList<>(in.keys().size());
        for (Bytes key : in.keys()) {
            Optional<Page> page = context.pages().serving(in.namespace(), key);
            if (page.isEmpty()) {
                context.counters().increment(AgentCounter.CALLS_REFUSED);
                context.ports().engines().missing(in.call(), pages.size());
                return;
            }
            pages.add(page.get());
        }
        long most = context.registration().hostBlocks() * (long) context.limits().engines().reservedPercent() / 100;
        if (leases.reservedWith(pages) > most) {
            boolean retry = pages.stream().distinct().count() <= most;
            engines.refuse(in.call(), Refusal.BUSY, "reservations may keep " + most + " pages of the host: load or release some", retry);
            return;
        }
        long leaseMs = Math.min(in.leaseMs() == 0 ? context.limits().engines().leaseMs() : in.leaseMs(), context.limits().engines().mostLeaseMs());
        String lease = leases.reserve(new Leases.Reserved(in.session(), in.namespace(), in.call(), pages), leaseMs);
        context.ports().engines().reserved(in.call(), lease, leaseMs);
    }

    public void release(LeaseReleased in) {
        Optional<Refusal> session = engines.whyNot(in.session());
        Optional<Leases.Lease> lease = leases.find(in.session(), in.lease());
        if (session.isPresent()) {
            engines.refuse(in.call(), session.get(), EngineSessions.FIRST, false);
        } else if (lease.isEmpty()) {
            engines.unknownLease(in.call(), in.lease());
        } else {
            switch (lease.get()) {
                case Leases.Offered(LiveAttempt attempt) -> requests.releasePins(attempt);
                case Leases.Reserved reserved -> leases.release(in.lease());
            }
            context.ports().engines().done(in.call());
        }
    }
}
