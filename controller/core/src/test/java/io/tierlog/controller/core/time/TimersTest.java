/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.state.TimerRows;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.RowKey.Timer.Queue;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.decision.OperationOverdue;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.state.ClockRow;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Timers do not lag behind log time, however many requests a partition gets, and the rows that they remove do not pile up. */
class TimersTest {
    private static final String CLOCK = "clock/0";

    private final HeapTables tables = new HeapTables();
    private final World w = new World(tables, Limits.DEFAULTS);
    private final List<Bytes> path = Agent.path("p", 2);
    private Agent agent = new Agent("a", "a-1", 1_000);
    private long offset;
    private long timeMs;

    @BeforeEach
    void begin() {
        agent = w.register(agent);
        w.tick();
        offset = w.offset();
        timeMs = w.timeMs();
    }

    /** Without the checks of {@link World}, which are too slow for many inputs. */
    private DecideResult step(Event event) {
        Core core = w.core;
        DecideResult decided = core.step(tables, new Input.Recorded(0, ++offset, event, 0));
        assertEquals(Outcome.APPLIED, decided.outcome());
        return decided;
    }

    private DecideResult second() {
        timeMs += 1_000;
        return step(new Tick(new Envelope(CLOCK, CLOCK, 0, 0, 0, timeMs, null, null, null), timeMs));
    }

    private void requests(String name, int count) {
        for (int i = 0; i < count; i++) {
            step(agent.submit(name + "-" + i, path).answered().event());
            step(agent.cancelled(name + "-" + i, 1));
        }
        step(agent.heartbeat());
    }

    private long lagMs(Queue queue) {
        return TimerRows.lagMs(tables, CLOCK, queue);
    }

    private long requestRows() {
        return tables.rows(Rows.REQUESTS).size();
    }

    /** 1,500 requests a second: each row is there for 60 seconds after its end, so there are 90,000 of them and those of one second more. */
    @Test
    void rowsOfEndedRequestsDoNotPileUp() {
        for (int second = 1; second <= 75; second++) {
            requests("r" + second, 1_500);
            second();
            assertEquals(0, lagMs(Queue.FORGET), "second " + second);
            assertTrue(requestRows() <= 91_500, second + " s: " + requestRows());
        }
    }

    /** A cancel is sent at its time while more rows wait to be forgotten than one tick removes; those go by and by. */
    @Test
    void whatMustHappenDoesNotWaitForWhatIsOnlyForgotten() {
        requests("r", 25_000);
        timeMs += 59_000;
        second();
        DecideResult fetch = step(agent.submit("late", Agent.path("q", 5)).store(0, 5).event());
        String operation = fetch.commands().stream().filter(PrefetchBlocks.class::isInstance).map(PrefetchBlocks.class::cast).findFirst()
                .orElseThrow().operation();

        // Each row is removed with its timer: 10,000 requests a tick.
        DecideResult due = second();

        assertEquals(List.of(operation), due.facts().stream().filter(OperationOverdue.class::isInstance).map(OperationOverdue.class::cast)
                .map(OperationOverdue::operation).toList());
        assertEquals(0, lagMs(Queue.ACT));
        assertEquals(5_001, requestRows());
        assertTrue(lagMs(Queue.FORGET) > 0);
        step(agent.heartbeat());
        second();
        assertEquals(List.of(1L, 0L), List.of(requestRows(), lagMs(Queue.FORGET)));
    }

    /** A tick reads a queue from its beginning on: what was served is behind it, and a timer that is due earlier moves it back. */
    @Test
    void theClockKnowsWhereItsQueuesBegin() {
        step(agent.submit("r", path).answered().event());
        step(agent.cancelled("r", 1));
        long endedMs = timeMs;
        second();
        assertEquals(timeMs + 1, clock().forgetFromMs());
        timeMs = endedMs + 59_000;
        second();
        assertEquals(0, requestRows());
        assertEquals(List.of(timeMs + 1, timeMs + 1, timeMs + 1),
                LongStream.of(clock().actFromMs(), clock().markFromMs(), clock().forgetFromMs()).boxed().toList());
    }

    private ClockRow clock() {
        return Objects.requireNonNull(tables.get(Rows.CLOCK, new RowKey.Aggregate(CLOCK)));
    }
}
