/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.state.TimerRows;
import io.tierlog.controller.core.table.RowKey.Timer.Queue;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.events.Partitions;
import java.util.EnumMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far the timers of a task are behind: after each tick, how long the oldest timer that is still due has been due, by queue. Only for the task's
 * stream thread. Trade-off: three range reads of one row a tick.
 */
final class TimerLag {
    private static final Logger LOG = LoggerFactory.getLogger(TimerLag.class);

    /** Beyond this, in milliseconds of log time, health is bad: leases and cancels come too late. */
    static final long ACT_MS = 10_000;

    /** The same for rows that are only forgotten, or expire: they use space and nothing else. */
    static final long FORGET_MS = 300_000;

    private final ControllerMetrics metrics;
    private final Health health;
    private final int partition;
    private boolean wasLate;

    TimerLag(ControllerMetrics metrics, Health health, int partition) {
        this.metrics = metrics;
        this.health = health;
        this.partition = partition;
    }

    /** A tick has been decided; what was decided is in the tables. */
    void tick(Tables tables) {
        Map<Queue, Long> late = new EnumMap<>(Queue.class);
        for (Queue queue : Queue.values()) {
            long lagMs = TimerRows.lagMs(tables, Partitions.clock(partition), queue);
            metrics.timerLag(partition, queue, lagMs);
            if (lagMs > (queue == Queue.FORGET || queue == Queue.EXPIRE ? FORGET_MS : ACT_MS)) {
                late.put(queue, lagMs);
            }
        }
        String what = late.isEmpty() ? "" : "timers of partition " + partition + " are late, in ms: " + late;
        if (!late.isEmpty() && !wasLate) {
            LOG.warn("{}; more instances or cores help when it does not pass", what);
        }
        wasLate = !late.isEmpty();
        health.timers(partition, what);
    }

    /** The task is closed: its partition is another one's. */
    void close() {
        metrics.released(partition);
        health.timers(partition, "");
    }
}
