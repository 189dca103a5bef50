/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.http.HealthParts;
import io.tierlog.controller.http.RecentFinding;
import io.tierlog.controller.http.StatusServer;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.streams.KafkaStreams;

/**
 * What this instance is doing, for people and for orchestrators. Written by Streams' threads, read by the HTTP server; safe for both.
 *
 * <pre>
 * REBALANCING --> RUNNING <--> WAITING_FOR_REGISTRY, LOG_INCOMPLETE, TIMERS_LATE
 *      ^------------+                                any --> STOPPED
 * </pre>
 */
final class Health {
    private final int coreVersion;
    private volatile KafkaStreams.State streams = KafkaStreams.State.CREATED;
    private volatile String detail = "starting";
    private volatile String violation = "";
    private volatile String wrongLog = "";
    private volatile String damaged = "";
    private volatile String lowSpace = "";
    private final RecentFinding aside = new RecentFinding();
    private final Map<Integer, String> lateTimers = new ConcurrentSkipListMap<>();
    private final Map<Integer, String> foreignDecisions = new ConcurrentSkipListMap<>();
    private final AtomicInteger waitingForRegistry = new AtomicInteger();

    /** The states an instance shows. */
    enum State {
        /** Getting its partitions, or restoring their state. */
        REBALANCING,
        /** Deciding. */
        RUNNING,
        /** A record's schema is not cached here and the registry does not answer: nothing is decided until it does. */
        WAITING_FOR_REGISTRY,
        /** Topics of the log are missing or do not fit together. */
        LOG_INCOMPLETE,
        /** It decides, but what must happen at its time happens late. */
        TIMERS_LATE,
        /** Closed, or failed. */
        STOPPED
    }

    /** Of a controller of the current core version. */
    Health() {
        this(CoreVersion.CURRENT);
    }

    /** Of a controller that decides by {@code coreVersion}. */
    Health(int coreVersion) {
        this.coreVersion = coreVersion;
    }

    State state() {
        return switch (streams) {
            case CREATED, REBALANCING -> State.REBALANCING;
            case RUNNING -> waitingForRegistry.get() > 0
                    ? State.WAITING_FOR_REGISTRY
                    : !wrongLog.isEmpty() ? State.LOG_INCOMPLETE : lateTimers.isEmpty() ? State.RUNNING : State.TIMERS_LATE;
            case PENDING_SHUTDOWN, NOT_RUNNING, PENDING_ERROR, ERROR -> State.STOPPED;
        };
    }

    /** A sentence for people. */
    String detail() {
        String now = wrongLog.isEmpty() ? detail : wrongLog;
        return now + (lateTimers.isEmpty() ? "" : "; " + String.join("; ", lateTimers.values()))
                + (foreignDecisions.isEmpty() ? "" : "; " + String.join("; ", foreignDecisions.values()))
                + (damaged.isEmpty() ? "" : "; " + damaged) + (lowSpace.isEmpty() ? "" : "; " + lowSpace)
                + (violation.isEmpty() ? "" : "; the tables do not hold what they must, last: " + violation);
    }

    /** The body of {@code /health}. */
    StatusServer.Report report(String instance) {
        State now = state();
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.put("state", now.name()).put("detail", detail()).put("instance", instance).put("coreVersion", coreVersion);
        return new StatusServer.Report(isDeciding(), body);
    }

    /** Adds what is known here to the parts of {@code /health}. */
    void addTo(HealthParts parts) {
        parts.add("streams", () -> switch (state()) {
            case REBALANCING -> HealthParts.State.failed("nothing is decided: " + detail);
            case STOPPED -> HealthParts.State.failed("it has stopped: " + detail);
            case RUNNING, WAITING_FOR_REGISTRY, LOG_INCOMPLETE, TIMERS_LATE -> HealthParts.State.WELL;
        });
        parts.add("registry", () -> waitingForRegistry.get() > 0 ? HealthParts.State.failed(detail) : HealthParts.State.WELL);
        parts.add("log", () -> wrongLog.isEmpty()
                ? HealthParts.State.degradedUnlessEmpty(String.join("; ", foreignDecisions.values())) : HealthParts.State.failed(wrongLog));
        parts.add("timers", () -> HealthParts.State.degradedUnlessEmpty(String.join("; ", lateTimers.values())));
        parts.add("state", () -> HealthParts.State.degradedUnlessEmpty(damaged));
        parts.add("space", () -> HealthParts.State.degradedUnlessEmpty(lowSpace));
        parts.add("records", () -> HealthParts.State.degradedUnlessEmpty(aside.recent()));
        parts.add("invariants", () -> violation.isEmpty()
                ? HealthParts.State.WELL : HealthParts.State.degraded("the tables do not hold what they must, last: " + violation));
    }

    /** True while inputs are decided. */
    boolean isDeciding() {
        return state() == State.RUNNING || state() == State.TIMERS_LATE;
    }

    /** The topics of the log are not as they must be; health reports it until {@link #logIsWell}. */
    void logIsWrong(String what) {
        wrongLog = what;
    }

    void logIsWell() {
        wrongLog = "";
    }

    /** Records among a partition's decisions that no controller of this log has written, for people; empty when there are none. */
    void foreignDecisions(int partition, String what) {
        show(foreignDecisions, partition, what);
    }

    private static void show(Map<Integer, String> each, int partition, String what) {
        if (what.isEmpty()) {
            each.remove(partition);
        } else {
            each.put(partition, what);
        }
    }

    /** State was damaged and is restored; health reports it until the instance ends. */
    void damaged(String what) {
        damaged = what;
    }

    /** The last record that was put into the dead letters, for people; health reports it for ten minutes. */
    void putAside(String what) {
        aside.found(what);
    }

    /** Directories that are nearly full, or cannot be written; empty when none is. */
    void lowSpace(String what) {
        lowSpace = what;
    }

    /** How late the timers of a partition are, for people; empty when they are not. */
    void timers(int partition, String late) {
        show(lateTimers, partition, late);
    }

    /** A sample of the tables violates an invariant; health reports it until the instance ends. */
    void violated(String what) {
        violation = what;
    }

    void streams(KafkaStreams.State newState) {
        streams = newState;
        if (state() == State.RUNNING) {
            detail = "deciding";
        } else if (state() == State.REBALANCING) {
            detail = "getting partitions and restoring their state";
        }
    }

    void waiting(String what) {
        waitingForRegistry.incrementAndGet();
        detail = what;
    }

    void goesOn() {
        waitingForRegistry.decrementAndGet();
        detail = "deciding";
    }

    void failed(String why) {
        detail = why;
    }
}
