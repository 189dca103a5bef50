/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.device.PageOwner;
import io.tierlog.agent.core.disk.DiskCopy;
import io.tierlog.agent.core.page.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Pages of units that ended without saying how: bytes may still move. They come back when the unit is reported again with known results, or,
 * for saves, when a later save of whatever operation has ended, since one direction is one stream. (A load of unknown outcome counts as under way: see
 * {@link Operations}.)
 *
 * <p>Bounded by the pages there are. For the core's one thread.
 */
final class Quarantine {
    /** What one unit keeps back. */
    final class Case {
        private final long unit;
        private final Stream stream;
        private final List<Page> destinations = new ArrayList<>();
        private final List<DiskCopy> copies = new ArrayList<>();
        private final List<Integer> bounced = new ArrayList<>();

        private Case(long unit, Stream stream) {
            this.unit = unit;
            this.stream = stream;
        }

        private String pin() {
            return "quarantine/" + unit;
        }

        /** A host page that bytes may still land in. */
        void keepDestination(Page page) {
            desk.counters.increment(AgentCounter.PAGES_QUARANTINED);
            desk.pages.quarantine(page);
            destinations.add(page);
        }

        /** A host page that may still be read. */
        void keepSource(Page page) {
            desk.pages.pin(pin(), page);
        }

        /** A page of the agent's own, that {@code operation} has, which bytes may still land in or be read from. */
        void keepBounce(String operation, int page) {
            desk.counters.increment(AgentCounter.BOUNCE_PAGES_QUARANTINED);
            desk.bounce.quarantine(operation, page);
            bounced.add(page);
        }

        /** A copy on the disk that may still be written. */
        void keepCopy(DiskCopy copy) {
            desk.disk.index.quarantine(copy);
            copies.add(copy);
        }

        /** A device page that may still be read; nothing when its pool is gone. */
        void keepDevice(int page, PageOwner owner) {
            if (page < desk.device.capacity()) {
                desk.device.pin(pin(), owner, page);
            }
        }

        private void lift() {
            destinations.forEach(desk.pages::knownIdle);
            copies.forEach(desk.disk::knownIdle);
            bounced.forEach(desk.bounce::knownIdle);
            desk.pages.unpinAll(pin());
            desk.released(desk.device.unpinAll(pin()));
        }
    }

    private final Desk desk;
    private final SequencedMap<Long, Case> cases = new TreeMap<>();

    Quarantine(Desk desk) {
        this.desk = desk;
    }

    Case open(long unit, Stream stream) {
        return cases.computeIfAbsent(unit, any -> new Case(unit, stream));
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
    @Nullable Stream stream(long unit) {
        Case found = cases.get(unit);
        return found == null ? null : found.stream;
    }

    /** A unit of saves is idle, so all that were queued before it in the same stream are, whatever operation they were for. */
    void liftSavesBefore(long unit) {
        if (!cases.isEmpty()) {
            List<Long> earlier = cases.values().stream().filter(one -> one.stream == Stream.DEVICE && one.unit < unit).map(one -> one.unit).toList();
            earlier.forEach(this::lift);
        }
    }
}
