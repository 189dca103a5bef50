/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import io.tierlog.ops.simulation.hardware.Unit;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.event.Event;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** An episode as it stands: the world, what is left to chance, and what is wrong at the moment. For one thread. */
final class Stage {
    /** Something that is wrong until a step, and what ends it. */
    private record Trouble(int untilStep, Runnable end) {}

    /** A command that was held back. */
    record HeldBack(SimNode node, Command command) {}

    final Choices choices;
    final FaultPlan plan;
    final World world;
    final Map<FaultKind, Long> faults = new EnumMap<>(FaultKind.class);
    final Map<MigrationCount, Long> migrations = new EnumMap<>(MigrationCount.class);
    final Map<ExpiryCount, Long> expiries = new EnumMap<>(ExpiryCount.class);
    /** What dead agents have yet to say. */
    final Deque<Event> ghosts = new ArrayDeque<>();
    final List<HeldBack> heldBack = new ArrayList<>();
    private final Map<SimNode, Set<Unit.Kind>> gates = new LinkedHashMap<>();
    /** How many faults hold the events of a node back. */
    private final Map<SimNode, Integer> mute = new LinkedHashMap<>();
    private final Set<SimNode> away = new LinkedHashSet<>();
    private final List<Trouble> troubles = new ArrayList<>();
    int step;
    /** Set while the one that has ended the world's clock ahead shall not set it back. */
    long skewMs;

    Stage(Choices choices, FaultPlan plan, World world) {
        this.choices = choices;
        this.plan = plan;
        this.world = world;
    }

    /** A fault has happened. */
    void count(FaultKind kind) {
        faults.merge(kind, 1L, Long::sum);
    }

    /** Something of migration has happened. */
    void count(MigrationCount what) {
        count(what, 1);
    }

    /** The same, so many times. */
    void count(MigrationCount what, long times) {
        migrations.merge(what, times, Long::sum);
    }

    /** A row has expired, or one that had is back. */
    void count(ExpiryCount what) {
        expiries.merge(what, 1L, Long::sum);
    }

    /** What was begun ends by itself after so many steps. */
    void lasting(int steps, Runnable end) {
        troubles.add(new Trouble(step + steps, end));
    }

    /** Ends what has lasted long enough. */
    void endTroubles() {
        for (int i = troubles.size() - 1; i >= 0; i--) {
            if (troubles.get(i).untilStep <= step) {
                troubles.remove(i).end.run();
            }
        }
    }

    /** Ends all that is wrong. */
    void endAllTroubles() {
        while (!troubles.isEmpty()) {
            troubles.removeLast().end.run();
        }
        gates.clear();
        mute.clear();
        away.clear();
    }

    /** Units of a kind stand still on a node, or go on. */
    void gate(SimNode node, Unit.Kind kind, boolean closed) {
        Set<Unit.Kind> kinds = gates.computeIfAbsent(node, any -> new LinkedHashSet<>());
        set(kinds, kind, closed);
    }

    boolean isGated(SimNode node, Unit.Kind kind) {
        return gates.getOrDefault(node, Set.of()).contains(kind);
    }

    /** The events of a node do not leave it, until each that began this has ended it. */
    void mute(SimNode node, boolean now) {
        mute.merge(node, now ? 1 : -1, Integer::sum);
    }

    boolean isMute(SimNode node) {
        return mute.getOrDefault(node, 0) > 0;
    }

    /** No agent starts on the node, or one may again. */
    void away(SimNode node, boolean now) {
        set(away, node, now);
    }

    boolean isAway(SimNode node) {
        return away.contains(node);
    }

    private static <T> void set(Set<T> all, T one, boolean in) {
        if (in) {
            all.add(one);
        } else {
            all.remove(one);
        }
    }
}
