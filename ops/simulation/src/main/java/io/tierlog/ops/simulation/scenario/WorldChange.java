/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import io.tierlog.ops.simulation.hardware.Medium;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.event.Event;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;

/** What happens to processes, clocks and media of a scenario beside requests and operations. Each says whether it could happen. */
sealed interface WorldChange {
    /** What a change needs of the run that it belongs to. For one thread. */
    final class Surroundings {
        private final World world;
        private final Gates gates;
        private final Map<String, Deque<Event>> unsent = new LinkedHashMap<>();
        private int processes;

        Surroundings(World world, Gates gates) {
            this.world = world;
            this.gates = gates;
        }

        /** What the agent has not sent is kept when it is killed. */
        void keepUnsent(SimNode node) {
            unsent.computeIfAbsent(node.name(), any -> new ArrayDeque<>()).addAll(node.takeUnsent());
        }

        private SimNode node(String name) {
            SimNode node = world.node(name);
            if (node == null) {
                throw new IllegalStateException("there is no node " + name);
            }
            return node;
        }
    }

    /** Makes it happen; false when it cannot. */
    boolean happen(Surroundings in);

    /** Reads the fields of a change of that name. */
    static WorldChange read(String name, ScenarioFile.Parser parser, Fields f) {
        String node = parser.node(f);
        return switch (name) {
            case "pause" -> new Pause(node, true);
            case "resume" -> new Pause(node, false);
            case "second_process" -> new SecondProcess(node);
            case "deliver_unsent" -> new DeliverUnsent(node);
            case "clock" -> clock(node, f);
            case "tick" -> new TickNow();
            case "store" -> new Store(medium(f), f.number("slow_ms", 0, MOST_MS, 0));
            case "disk" -> new Disk(node, medium(f));
            case "idle" -> new Idle(node);
            default -> throw f.error("says \"do\":\"" + name + "\", which is not a step");
        };
    }

    /** Longest time that a field may say, in milliseconds. */
    long MOST_MS = 100L * 86_400_000;

    private static State medium(Fields f) {
        return new State(f.flag("reachable", true), f.flag("full", false));
    }

    private static WorldChange clock(String node, Fields f) {
        String of = f.textOrEmpty("of");
        long aheadMs = f.number("ahead_ms", of.equals("node") ? 0 : -MOST_MS, MOST_MS, 0);
        return switch (of) {
            case "", "ticks" -> new TickClock(aheadMs, f.flag("stands", false));
            case "agents" -> new AgentClocks(aheadMs);
            case "node" -> new NodeClock(node, aheadMs);
            default -> throw f.error("wants \"ticks\", \"agents\" or \"node\" in \"of\"");
        };
    }

    /** State of a medium from here on. */
    record State(boolean reachable, boolean full) {
        void of(Medium medium) {
            medium.reachable(reachable);
            medium.full(full);
        }
    }

    /** An agent stands still, or goes on. */
    record Pause(String node, boolean on) implements WorldChange {
        @Override
        public boolean happen(Surroundings in) {
            SimNode one = in.node(node);
            boolean can = one.process() != null && one.paused() != on;
            one.pause(on);
            return can;
        }
    }

    /** Another process registers for the node, and says nothing more. */
    record SecondProcess(String node) implements WorldChange {
        @Override
        public boolean happen(Surroundings in) {
            in.node(node).intrude(++in.processes);
            return true;
        }
    }

    /** What killed agents of the node had not sent reaches the log. */
    record DeliverUnsent(String node) implements WorldChange {
        @Override
        public boolean happen(Surroundings in) {
            Deque<Event> kept = in.unsent.getOrDefault(node, new ArrayDeque<>());
            boolean any = !kept.isEmpty();
            while (!kept.isEmpty()) {
                in.world.appendOnce(kept.remove());
            }
            return any;
        }
    }

    /** The clock that makes ticks. */
    record TickClock(long aheadMs, boolean stands) implements WorldChange {
        @Override
        public boolean happen(Surroundings in) {
            in.world.wallSkewMs(aheadMs);
            in.world.clockStands(stands);
            return true;
        }
    }

    /** A tick between the ticks of every second. */
    record TickNow() implements WorldChange {
        @Override
        public boolean happen(Surroundings in) {
            in.world.tick();
            return true;
        }
    }

    /** The wall clocks of all agents. */
    record AgentClocks(long aheadMs) implements WorldChange {
        @Override
        public boolean happen(Surroundings in) {
            in.world.agentWallSkewMs(aheadMs);
            return true;
        }
    }

    /** The monotonic clock of a node jumps ahead. */
    record NodeClock(String node, long aheadMs) implements WorldChange {
        @Override
        public boolean happen(Surroundings in) {
            in.node(node).jumpAhead(aheadMs);
            return true;
        }
    }

    /** The store. */
    record Store(State state, long slowMs) implements WorldChange {
        @Override
        public boolean happen(Surroundings in) {
            state.of(in.world.store());
            in.gates.slowStore(slowMs);
            return true;
        }
    }

    /** The disk of a node. */
    record Disk(String node, State state) implements WorldChange {
        @Override
        public boolean happen(Surroundings in) {
            state.of(in.node(node).disk());
            return in.node(node).spec().diskBlocks() > 0;
        }
    }

    /** The oldest unit of unknown outcome is idle: what was to move later moves now. */
    record Idle(String node) implements WorldChange {
        @Override
        public boolean happen(Surroundings in) {
            return in.node(node).settleDoubtful();
        }
    }
}
