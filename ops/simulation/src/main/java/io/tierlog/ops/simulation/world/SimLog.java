/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Message;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The log: what was appended, in the order of each partition. Decisions are committed ones. Nothing is ever taken back. For one thread. */
public final class SimLog {
    private final List<List<Event>> events = new ArrayList<>();
    private final List<List<Fact>> decisions = new ArrayList<>();
    private final Map<String, List<Command>> commands = new LinkedHashMap<>();
    private final List<List<Message>> messages = new ArrayList<>();

    SimLog(int partitions) {
        for (int p = 0; p < partitions; p++) {
            events.add(new ArrayList<>());
            decisions.add(new ArrayList<>());
            messages.add(new ArrayList<>());
        }
    }

    /** Number of partitions. */
    public int partitions() {
        return events.size();
    }

    /** The partition of an aggregate. */
    public int partitionOf(String aggregate) {
        if (aggregate.startsWith("clock/")) {
            return Integer.parseInt(aggregate.substring("clock/".length()));
        }
        return aggregate.equals("policy") ? 0 : Math.floorMod(aggregate.hashCode(), events.size());
    }

    /** Events of a partition; the offset is the position. */
    public List<Event> events(int partition) {
        return events.get(partition);
    }

    /** Committed decisions of a partition; the offset is the position. */
    public List<Fact> decisions(int partition) {
        return decisions.get(partition);
    }

    /** Commands to a node. */
    public List<Command> commands(String aggregate) {
        return commands.computeIfAbsent(aggregate, any -> new ArrayList<>());
    }

    /** Committed messages to the aggregates of a partition. */
    public List<Message> messages(int partition) {
        return messages.get(partition);
    }

    void tell(Message message) {
        messages.get(partitionOf(message.envelope().aggregate())).add(message);
    }

    void issued(Command command) {
        commands(command.envelope().aggregate()).add(command);
    }

    void append(Event event) {
        events.get(partitionOf(event.envelope().aggregate())).add(event);
    }
}
