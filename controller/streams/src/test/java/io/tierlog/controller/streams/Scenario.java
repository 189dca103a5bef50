/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.events.Codec;
import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * A day in a log of one partition, played with the core on the heap: two nodes, requests that fetch, write back and back up, a restart of
 * one agent, time-outs. What came in and what was decided is what the topology is held against.
 */
final class Scenario {
    final List<Event> events = new ArrayList<>();
    final List<Fact> facts = new ArrayList<>();
    final List<Command> commands = new ArrayList<>();
    private final HeapTables tables = new HeapTables();
    private final Core core = new Core(Limits.of(1));
    private final Deque<Event> next = new ArrayDeque<>();
    private long tickSequence;

    /** Requests that go well, many of them, for measuring: each fetches 5 blocks, writes 3 back and backs them up. */
    static Scenario manyRequests(int requests) {
        Scenario s = new Scenario();
        s.tick(1_000);
        FakeAgent a = s.join(new FakeAgent("a", "p1"));
        for (int i = 0; i < requests; i++) {
            FakeAgent.Prompt prompt = new FakeAgent.Prompt(i, 8);
            s.say(a, a.submitted("r" + i, prompt, 5));
            s.say(a, a.prefilledSealedFinished("r" + i, prompt, 5));
            if (i % 100 == 0) {
                s.tick(2_000 + i * 10L);
            }
        }
        return s;
    }

    /** The day. */
    static Scenario play() {
        Scenario s = new Scenario();
        s.tick(1_000);
        FakeAgent a = s.join(new FakeAgent("a", "p1"));
        FakeAgent b = s.join(new FakeAgent("b", "p1"));
        for (int i = 0; i < 12; i++) {
            FakeAgent agent = i % 3 == 0 ? b : a;
            // Every prompt comes twice: the first time the store has 5 of its 8 blocks, then the host has all of them.
            FakeAgent.Prompt prompt = new FakeAgent.Prompt(i / 2, 8);
            int stored = i % 2 == 0 ? 5 : 0;
            s.say(agent, agent.submitted("r" + i, prompt, stored));
            s.say(agent, agent.prefilledSealedFinished("r" + i, prompt, stored));
            s.say(a, a.heartbeat());
            s.say(b, b.heartbeat());
            s.tick(2_000 + i * 1_000L);
        }
        disk(s);
        // This fetch gets no result: it is overdue, then cancelled.
        s.input(a.submitted("late", new FakeAgent.Prompt(99, 8), 8));
        s.tick(100_000);
        // b is silent until its next process may take over; a continues.
        for (int i = 0; i < 12; i++) {
            s.tick(0);
            s.say(a, a.heartbeat());
        }
        FakeAgent again = s.join(new FakeAgent("b", "p2"));
        s.say(again, again.submitted("after", new FakeAgent.Prompt(0, 8), 8));
        s.input(a.registering());
        s.input(b.heartbeat());
        s.tick(101_000);
        return s;
    }

    /** A node with a small host: its disk had one prompt, takes two more before they leave the host, and lets the oldest stored one go. */
    private static void disk(Scenario s) {
        FakeAgent c = s.join(new FakeAgent("c", "p1", 10, 24));
        s.say(c, c.recovered(new FakeAgent.Prompt(50, 8)));
        s.say(c, c.submitted("again", new FakeAgent.Prompt(50, 8), 0));
        for (int i = 0; i < 6; i++) {
            FakeAgent.Prompt prompt = new FakeAgent.Prompt(60 + i, 8);
            s.say(c, c.submitted("c" + i, prompt, 5));
            s.say(c, c.prefilledSealedFinished("c" + i, prompt, 5));
        }
    }

    private FakeAgent join(FakeAgent agent) {
        input(agent.registering());
        if (!(facts.stream().filter(AgentAccepted.class::isInstance).toList().getLast() instanceof AgentAccepted accepted)
                || !accepted.node().equals(agent.node)) {
            throw new AssertionError(agent.node + " was not accepted: " + facts.getLast());
        }
        agent.accepted(accepted.newIncarnation());
        say(agent, agent.attached());
        return agent;
    }

    private void say(FakeAgent agent, Event event) {
        say(agent, List.of(event));
    }

    /** Events, and what the agent answers to the commands they lead to, until nothing follows. */
    private void say(FakeAgent agent, List<? extends Event> events) {
        next.addAll(events);
        while (!next.isEmpty()) {
            input(next.remove()).forEach(command -> next.addAll(agent.on(command)));
        }
    }

    private void tick(long timeMs) {
        input(Script.tick(0, ++tickSequence, timeMs));
    }

    private List<Command> input(Event event) {
        DecideResult decided = core.step(tables, new Input.Recorded(0, events.size(), event, RecordStamp.crc32c(Codec.avro(event))));
        events.add(event);
        facts.addAll(decided.facts());
        commands.addAll(decided.commands());
        return decided.commands();
    }
}
