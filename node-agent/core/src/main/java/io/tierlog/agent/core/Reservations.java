/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.AgentInput.LeaseGivenUp;
import io.tierlog.agent.core.AgentInput.ReserveAsked;
import io.tierlog.agent.core.page.Page;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What engines ask to have kept on the host outside of requests, all of it or nothing, and what they give up again. It begins no transfer.
 * For the core's one thread.
 */
final class Reservations {
    private final Desk desk;
    private final Engines engines;
    private final Requests requests;
    private final Leases leases;

    Reservations(Desk desk, Engines engines, Requests requests, Leases leases) {
        this.desk = desk;
        this.engines = engines;
        this.requests = requests;
        this.leases = leases;
    }

    void reserve(ReserveAsked in) {
        Optional<Refusal> session = engines.whyNot(in.session());
        Optional<String> wrong = DoorCheck.keys(in.namespace(), in.keys(), desk.limits.bounds().keysPerRequest());
        if (session.isPresent()) {
            engines.refuse(in.call(), session.get(), Engines.FIRST, false);
        } else if (wrong.isPresent() || in.leaseMs() < 0) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, wrong.orElse("lease_ms must be 0 or more"), false);
        } else if (!desk.takesWork()) {
            engines.refuse(in.call(), Refusal.CLOSING, "The agent goes away", false);
        } else if (leases.reservations(in.session()) >= desk.limits.door().leases()) {
            engines.refuse(in.call(), Refusal.BUSY, desk.limits.door().leases() + " reservations of the session are open: load or release one", true);
        } else {
            pin(in);
        }
    }

    private void pin(ReserveAsked in) {
        List<Page> pages = new ArrayList<>(in.keys().size());
        for (Bytes key : in.keys()) {
            Optional<Page> page = desk.pages.serving(in.namespace(), key);
            if (page.isEmpty()) {
                desk.counters.increment(AgentCounter.CALLS_REFUSED);
                desk.ports.engines().missing(in.call(), pages.size());
                return;
            }
            pages.add(page.get());
        }
        long most = desk.registration.hostBlocks() * (long) desk.limits.door().reservedPercent() / 100;
        if (leases.reservedWith(pages) > most) {
            boolean retry = pages.stream().distinct().count() <= most;
            engines.refuse(in.call(), Refusal.BUSY, "reservations may keep " + most + " pages of the host: load or release some", retry);
            return;
        }
        long leaseMs = Math.min(in.leaseMs() == 0 ? desk.limits.door().leaseMs() : in.leaseMs(), desk.limits.door().mostLeaseMs());
        String lease = leases.reserve(new Leases.Reserved(in.session(), in.namespace(), in.call(), pages), leaseMs);
        desk.ports.engines().reserved(in.call(), lease, leaseMs);
    }

    void giveUp(LeaseGivenUp in) {
        Optional<Refusal> session = engines.whyNot(in.session());
        Optional<Leases.Lease> lease = leases.find(in.session(), in.lease());
        if (session.isPresent()) {
            engines.refuse(in.call(), session.get(), Engines.FIRST, false);
        } else if (lease.isEmpty()) {
            engines.unknownLease(in.call(), in.lease());
        } else {
            switch (lease.get()) {
                case Leases.Offered(LiveAttempt attempt) -> requests.releasePins(attempt);
                case Leases.Reserved reserved -> leases.release(in.lease());
            }
            desk.ports.engines().done(in.call());
        }
    }
}
