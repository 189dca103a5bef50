/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.agent.core.page.Page;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Pages of units that ended with an unknown outcome: bytes may still move. They are idle when the unit is reported again with an outcome, or, for
 * saves, when a later save of any operation has ended, since one direction is one stream. (A load of unknown outcome counts as under way: see
 * {@link Operations}.) An idle source is free at once. An idle destination comes back only when its operation has ended too: until then no other
 * operation gets it. A bounce page, which the log does not have, comes back at once.
 *
 * <p>Bounded by the number of pages. For the core's one thread.
 */
final class Quarantine {
    /** What one unit keeps back. */
    final class Case {
        private final long unit;
        private final TransferSession session;
        private final TransferPort stream;
        private final OperationReason reason;
        private final List<Page> destinations = new ArrayList<>();
        private final List<DiskPlacement> copies = new ArrayList<>();
        private final List<DiskPlacement> drops = new ArrayList<>();
        private final List<Integer> bounced = new ArrayList<>();

        private Case(long unit, TransferSession session, TransferPort stream, OperationReason reason) {
            this.unit = unit;
            this.session = session;
            this.stream = stream;
            this.reason = reason;
        }

        /** Why the outcome is unknown. */
        OperationReason reason() {
            return reason;
        }

        private String pin() {
            return "quarantine/" + unit;
        }

        /** A host page that bytes may still land in. */
        void keepDestination(Page page) {
            context.counters().increment(AgentCounter.PAGES_QUARANTINED);
            context.pages().quarantine(page);
            destinations.add(page);
        }

        /** A host page that may still be read. */
        void keepSource(Page page) {
            context.pages().pin(pin(), page);
        }

        /** A page of the agent's own, that {@code operation} has, which bytes may still land in or be read from. */
        void keepBounce(String operation, int page) {
            context.counters().increment(AgentCounter.BOUNCE_PAGES_QUARANTINED);
            context.bounce().quarantine(operation, page);
            bounced.add(page);
        }

        /** A placement on the disk that may still be read. */
        void keepSource(DiskPlacement copy) {
            context.disk().index().pin(pin(), copy);
        }

        /** A placement on the disk that may still be written. */
        void keepCopy(DiskPlacement copy) {
            context.disk().index().quarantine(copy);
            copies.add(copy);
        }

        /** A placement that may still be dropped: it is dropped once more when this drop is idle. */
        void keepDrop(DiskPlacement copy) {
            drops.add(copy);
        }

        /** A device page that may still be read; nothing when its pool is gone. */
        void keepDevice(int page, PageOwner owner) {
            if (page < context.device().capacity()) {
                context.device().pin(pin(), owner, page);
            }
        }

        private void lift() {
            context.pages().unpinAll(pin());
            context.disk().index().unpinAll(pin());
            context.noticeReleased(context.device().unpinAll(pin()));
            bounced.forEach(context.bounce()::markIdle); // the log has none of them
            if (session.state() == TransferSession.State.ENDED) {
                giveBack();
            } else {
                idle.computeIfAbsent(session, any -> new ArrayList<>(1)).add(this);
            }
        }

        private void giveBack() {
            destinations.forEach(context.pages()::markIdle);
            copies.forEach(context.disk()::markIdle);
            drops.forEach(copy -> context.disk().dropLater(copy, copy.generation()));
        }
    }

    private final AgentContext context;
    private final SequencedMap<Long, Case> cases = new TreeMap<>();
    /** Idle cases whose operation is still under way. */
    private final Map<TransferSession, List<Case>> idle = new LinkedHashMap<>();

    Quarantine(AgentContext context) {
        this.context = context;
    }

    Case open(long unit, TransferSession session, TransferPort stream, OperationReason reason) {
        return cases.computeIfAbsent(unit, any -> new Case(unit, session, stream, reason));
    }

    /** The operation has ended: its idle pages come back. */
    void ended(TransferSession session) {
        List<Case> known = idle.remove(session);
        if (known != null) {
            known.forEach(Case::giveBack);
        }
    }

    /** The unit is idle after all; false when it is not in quarantine. */
    boolean lift(long unit) {
        Case found = cases.remove(unit);
        if (found == null) {
            return false;
        }
        found.lift();
        return true;
    }

    /** Which port moves the unit in quarantine, or null. */
    @Nullable TransferPort stream(long unit) {
        Case found = cases.get(unit);
        return found == null ? null : found.stream;
    }

    /** A unit of saves is idle, so all that were queued before it in the same stream are, whatever operation they were for. */
    void liftSavesBefore(long unit) {
        if (!cases.isEmpty()) {
            List<Long> earlier = cases.values().stream()
                    .filter(one -> one.stream == TransferPort.DEVICE && one.unit < unit).map(one -> one.unit).toList();
            earlier.forEach(this::lift);
        }
    }
}
