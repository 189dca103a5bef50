/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outgoing;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.event.AgentEvent;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Message;
import io.tierlog.schemas.event.Tick;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The shipped core of the controller, the clock and the relay. Commands leave at once, facts and messages with the next transaction. Nothing is kept
 * of the log but its length. For one thread.
 */
final class ModelController {
    /** The virtual run begins then, so that no time in it is before 1970. */
    static final long START_MS = 1_000_000_000_000L;

    private static final Set<RefusalReason> OUT_OF_ORDER = EnumSet.of(RefusalReason.REPEATED, RefusalReason.SEQUENCE_GAP);
    private static final int PARTITIONS = 4;
    private static final int TICK_MS = 1_000;

    private final VirtualTime time;
    private final HardwareModel.Log log;
    private final ResultCounts counts;
    private final Core core = new Core(Limits.of(PARTITIONS));
    private final HeapTables tables = new HeapTables();
    private final long[] offsets = new long[PARTITIONS];
    private final Map<String, Consumer<Command>> agents = new HashMap<>();
    private final List<Consumer<Fact>> readers = new ArrayList<>();
    /** When the last record of each aggregate arrives, which the next one does not overtake: events, and commands of agents. */
    private final Map<String, Long> lastEventMicros = new HashMap<>();
    private final Map<String, Long> lastCommandMicros = new HashMap<>();
    private final List<Fact> facts = new ArrayList<>();
    private final List<Message> messages = new ArrayList<>();
    private boolean commits;
    private long ticks;

    ModelController(VirtualTime time, HardwareModel.Log log, ResultCounts counts) {
        this.time = time;
        this.log = log;
        this.counts = counts;
        tick();
    }

    /** The commands of a node go to {@code agent}. */
    void agent(String aggregate, Consumer<Command> agent) {
        agents.put(aggregate, agent);
    }

    /** Receives committed decisions from now on. */
    void reader(Consumer<Fact> reader) {
        readers.add(reader);
    }

    /** An event of another sender than an agent: decided at once. */
    void append(Event event) {
        decide(event, time.runMs());
    }

    /** An event of an agent is on its way. */
    void send(Event event) {
        counts.event(event);
        long sentMs = time.runMs();
        behind(lastEventMicros, event.envelope().aggregate(), log.eventMicros(sentMs), () -> decide(event, sentMs));
    }

    private void behind(Map<String, Long> last, String aggregate, long micros, Runnable what) {
        time.at(last.merge(aggregate, time.nowMicros() + micros, Math::max), what);
    }

    private void tick() {
        ticks++;
        long nowMs = START_MS + time.nowMs();
        for (int p = 0; p < PARTITIONS; p++) {
            String clock = "clock/" + p;
            decide(new Tick(new Envelope(clock, clock + "/0", 0, ticks, 0, nowMs, null, null, null), nowMs, TICK_MS), time.runMs());
        }
        time.after(TICK_MS * VirtualTime.MICROS_IN_MS, this::tick);
    }

    /** Decides an event that left at {@code sentMs} of the run. */
    private void decide(Event event, long sentMs) {
        int partition = partition(event.envelope().aggregate());
        DecideResult decided = core.step(tables, new Input.Recorded(partition, offsets[partition]++, event, 0), command -> issued(command, sentMs));
        for (Fact fact : decided.facts()) {
            if (event instanceof AgentEvent && fact instanceof InputRefused refused && OUT_OF_ORDER.contains(refused.reason())) {
                throw new IllegalStateException("a record of the model overtook another: " + refused);
            }
            counts.fact(fact);
        }
        facts.addAll(decided.facts());
        decided.messages().stream().map(Outgoing::message).forEach(messages::add);
        if (!commits) {
            commits = true;
            time.after(log.commitMicros() - time.nowMicros() % log.commitMicros(), this::commit);
        }
    }

    private void issued(Command command, long sentMs) {
        String aggregate = command.envelope().aggregate();
        Consumer<Command> agent = agents.get(aggregate);
        if (agent != null) {
            behind(lastCommandMicros, aggregate, log.commandMicros(sentMs), () -> agent.accept(command));
        }
    }

    private void commit() {
        commits = false;
        List<Fact> committed = List.copyOf(facts);
        List<Message> sent = List.copyOf(messages);
        facts.clear();
        messages.clear();
        committed.forEach(fact -> readers.forEach(reader -> reader.accept(fact)));
        long sentMs = time.runMs();
        sent.forEach(message -> behind(
                lastEventMicros, message.envelope().aggregate(), log.eventMicros(sentMs), () -> decide(message, sentMs)));
    }

    private static int partition(String aggregate) {
        if (aggregate.startsWith("clock/")) {
            return Integer.parseInt(aggregate.substring("clock/".length()));
        }
        return aggregate.equals("policy") ? 0 : Math.floorMod(aggregate.hashCode(), PARTITIONS);
    }
}
