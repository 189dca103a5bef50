/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Table;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.command.WriteBackBlocks;
import io.tierlog.schemas.event.AgentRegistering;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PolicyPublished;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.state.NodeRow;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One world of the enumeration: the tables, and what the two agents know beside them. Immutable; a step makes a new one.
 *
 * <p>Two nodes with two host pages each, one prompt of two blocks. Two blocks on the host are as many as the high mark, so that one is dropped.
 * Offsets and times differ from all other numbers by their size, see {@link SmallWorldKey}.
 *
 * @param before the world that this one came from; null for a first one
 * @param how what led here, for people
 * @param input the event that led here; null when none did
 * @param decided what it led to
 * @param offset of that input
 * @param timeMs of the last tick
 */
record SmallWorld(
        @Nullable SmallWorld before, String how, @Nullable Event input, @Nullable DecideResult decided, HeapTables tables, Side a, Side b,
        long offset,
        long timeMs) {
    static final long FIRST_OFFSET = 7_000_000;
    static final long FIRST_MS = 3_000_000_000L;
    static final long TICK_MS = 1_000;
    static final List<Bytes> PATH = Agent.path("k", 2);
    static final String CLOCK = "clock/0";

    /** Threshold 0; 2 of 2 blocks are high and 1 is low; an operation is overdue and a lease over at the first tick, a node lost at the second. */
    private static final Policy POLICY = new Policy(0, WritePolicy.WRITE_BACK, 1.0, 0.6, 1.0, 0.6, true, 2, 1_000, 1_000, 1, false, null, null);

    /**
     * The state of an agent.
     *
     * @param process number of its present process
     * @param incarnation that it was given; 0 before
     * @param sequence of its last event
     * @param attempt last attempt of its one request
     * @param open commands that it has not answered, oldest first
     * @param answered its last answer to a command
     * @param generation of the last page it filled
     */
    record Side(String node, int process, long incarnation, long sequence, int attempt, List<Command> open, @Nullable Event answered,
            long generation) {
        Side {
            open = List.copyOf(open);
        }

        static Side first(String node) {
            return new Side(node, 0, 0, 0, 0, List.of(), null, 0);
        }

        /** To make its next event. */
        Agent agent() {
            Agent agent = new Agent(node, node + "-" + process, 2);
            agent.incarnation = incarnation;
            agent.sequence = sequence;
            return agent;
        }

        /** The next process of the node, which has not registered yet. */
        Side nextProcess() {
            return new Side(node, process + 1, 0, 0, attempt, List.of(), null, generation);
        }

        Side accepted(long given) {
            return new Side(node, process, given, sequence, attempt, open, answered, generation);
        }

        Side said(long number) {
            return new Side(node, process, incarnation, number, attempt, open, answered, generation);
        }

        Side begun() {
            return new Side(node, process, incarnation, sequence, attempt + 1, open, answered, generation);
        }

        Side filled() {
            return new Side(node, process, incarnation, sequence, attempt, open, answered, generation + 1);
        }

        Side received(List<Command> commands) {
            List<Command> more = new ArrayList<>(open);
            more.addAll(commands);
            return new Side(node, process, incarnation, sequence, attempt, more, answered, generation);
        }

        /** The oldest command is dealt with; {@code with} null when it was lost. */
        Side answered(@Nullable Event with) {
            return new Side(node, process, incarnation, sequence, attempt, open.subList(1, open.size()), with == null ? answered : with, generation);
        }
    }

    /** No node is registered. */
    static SmallWorld empty() {
        HeapTables tables = new HeapTables();
        new Core(Limits.DEFAULTS).step(tables, new Input.Recorded(0, 1,
                new PolicyPublished(new Envelope(CLOCK, "policy", 0, 1, 0, 0, null, null, null), 1, POLICY), 0));
        SmallWorld world = new SmallWorld(null, "absent", null, null, tables, Side.first("a"), Side.first("b"), FIRST_OFFSET, FIRST_MS);
        return world.tick(new Core(Limits.DEFAULTS));
    }

    /** The next input is this tick. */
    Tick nextTick() {
        long ms = timeMs + TICK_MS;
        return new Tick(new Envelope(CLOCK, CLOCK, 0, 0, 0, ms, null, null, null), ms);
    }

    SmallWorld tick(Core core) {
        return step(core, nextTick(), a, b);
    }

    /** An event of an agent that then has the state {@code knows}. */
    SmallWorld step(Core core, Event event, Side knows) {
        Side said = knows.said(event.envelope().sequence());
        return knows.node().equals("a") ? step(core, event, said, b) : step(core, event, a, said);
    }

    private SmallWorld step(Core core, Event event, Side nextA, Side nextB) {
        HeapTables after = copy(tables);
        DecideResult now = core.step(after, recorded(event, offset + 1));
        return new SmallWorld(this, how(event), event, now, after, hearing(nextA, event, now, after), hearing(nextB, event, now, after),
                offset + 1, event instanceof Tick tick ? tick.timeMs() : timeMs);
    }

    private static String how(Event event) {
        return event.envelope().aggregate() + " " + event.getClass().getSimpleName();
    }

    /** One side has lost some of its state, and the controller receives no report of it. */
    SmallWorld without(Side forgetful, String what) {
        boolean isA = forgetful.node().equals("a");
        String told = "node/" + forgetful.node() + " " + what;
        return new SmallWorld(this, told, null, null, tables, isA ? forgetful : a, isA ? b : forgetful, offset, timeMs);
    }

    static Input recorded(Event event, long offset) {
        return new Input.Recorded(0, offset, event, 0);
    }

    private static Side hearing(Side side, Event event, DecideResult now, HeapTables after) {
        String aggregate = "node/" + side.node();
        Side next = side;
        if (event instanceof AgentRegistering e && e.node().equals(side.node())) {
            NodeRow row = after.get(Rows.NODES, new RowKey.Aggregate(aggregate));
            next = row != null && row.alive() && row.processId().equals(e.processId()) ? side.accepted(row.incarnation()) : side;
        }
        List<Command> commands = new ArrayList<>();
        for (Command command : now.commands()) {
            if (isAnswered(command) && command.envelope().aggregate().equals(aggregate) && command.envelope().incarnation() == next.incarnation()) {
                commands.add(command);
            }
        }
        return commands.isEmpty() ? next : next.received(commands);
    }

    private static boolean isAnswered(Command command) {
        return command instanceof PrefetchBlocks || command instanceof WriteBackBlocks || command instanceof BackUpBlocks
                || command instanceof DropBlocks || command instanceof CancelOperation;
    }

    List<Side> sides() {
        return List.of(a, b);
    }

    /** Everything that happened, from the first input on. */
    List<SmallWorld> path() {
        Deque<SmallWorld> path = new ArrayDeque<>();
        for (SmallWorld world = this; world != null; world = world.before()) {
            path.addFirst(world);
        }
        return List.copyOf(path);
    }

    static HeapTables copy(HeapTables tables) {
        HeapTables copy = new HeapTables();
        Rows.ALL.forEach(table -> copy(table, tables, copy));
        return copy;
    }

    private static <K extends RowKey<K>, V extends WireRecord> void copy(Table<K, V> table, HeapTables from, HeapTables to) {
        from.rows(table).forEach((key, row) -> to.put(table, key, row));
    }
}
