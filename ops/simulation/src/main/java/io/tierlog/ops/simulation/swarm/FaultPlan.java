/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The mix of one episode: which kinds of faults there are, and how often. Immutable.
 *
 * @param kinds the kinds
 * @param perMille steps of a thousand that are a fault
 * @param unitsPerMille units of a thousand that go wrong
 * @param reading whether nodes read from each other more often than in other episodes, with every kind of fault of such reads
 */
record FaultPlan(Set<FaultKind> kinds, int perMille, int unitsPerMille, boolean reading) {
    private static final Set<FaultKind> OF_READS =
            EnumSet.of(FaultKind.PEER_FAILED, FaultKind.PEER_WRONG, FaultKind.PEER_SLOW, FaultKind.PEER_UNREACHABLE, FaultKind.READER_DIED);
    /** Where both are drawn agents lose the log, too: a choice of its own would change what each seed is. */
    private static final Set<FaultKind> OF_OUTAGES = EnumSet.of(FaultKind.OUTBOX_CONGESTED, FaultKind.CONTROLLER_CRASH);

    FaultPlan {
        kinds = kinds.isEmpty() ? EnumSet.noneOf(FaultKind.class) : EnumSet.copyOf(kinds);
    }

    /** Draws a mix of what is allowed: one episode in sixteen is calm, the others have about half of the kinds; every second reads across nodes. */
    static FaultPlan draw(Choices choices, Set<FaultKind> allowed) {
        int rate = choices.pick(List.of(0, 5, 10, 15, 20, 20, 30, 30, 30, 40, 40, 60, 60, 20, 30, 40));
        boolean reading = choices.next(2) == 1;
        Set<FaultKind> drawn = EnumSet.noneOf(FaultKind.class);
        for (FaultKind kind : FaultKind.values()) {
            if (kind != FaultKind.LOG_LOST && choices.next(2) == 1) {
                drawn.add(kind);
            }
        }
        if (drawn.containsAll(OF_OUTAGES)) {
            drawn.add(FaultKind.LOG_LOST);
        }
        if (reading) {
            drawn.addAll(OF_READS);
        }
        Set<FaultKind> kinds = EnumSet.noneOf(FaultKind.class);
        if (rate > 0) {
            kinds.addAll(drawn);
            kinds.retainAll(allowed);
        }
        return new FaultPlan(kinds, rate, 4 * rate, reading);
    }

    boolean has(FaultKind kind) {
        return kinds.contains(kind);
    }

    /** The kinds that come by themselves, each as often as its weight says. */
    List<FaultKind> lots() {
        List<FaultKind> lots = new ArrayList<>();
        for (FaultKind kind : kinds) {
            for (int i = 0; i < kind.weight() && !kind.ofUnits(); i++) {
                lots.add(kind);
            }
        }
        return lots;
    }

    @Override
    public String toString() {
        return kinds.isEmpty() ? "no faults"
                : perMille + " of 1,000 steps: " + kinds.stream().map(FaultKind::label).collect(Collectors.joining(", "));
    }
}
