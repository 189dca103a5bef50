/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.directory.index.PlacementIndex;
import io.tierlog.controller.http.HealthParts;
import io.tierlog.controller.http.RecentFinding;
import io.tierlog.controller.http.StatusServer;
import io.tierlog.events.PatientReader;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.apache.kafka.streams.KafkaStreams;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this instance is doing, for people and for orchestrators. Written by Streams' threads, read by HTTP; safe for both.
 *
 * <pre>
 * REBALANCING --> RUNNING <--> WAITING_FOR_REGISTRY, FULL
 *      ^------------+                          any --> STOPPED
 * </pre>
 */
final class DirectoryHealth implements PatientReader.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryHealth.class);

    private final LocalShards copies;
    private final DirectoryMetrics metrics;
    private final HealthParts parts;
    private final AtomicInteger waiting = new AtomicInteger();
    private volatile KafkaStreams.State streams = KafkaStreams.State.CREATED;
    private volatile String detail = "starting";
    private volatile String damaged = "";
    private volatile String foreign = "";
    private final RecentFinding unreadable = new RecentFinding();
    private volatile String lowSpace = "";
    private volatile boolean closing;
    private volatile boolean stopped;

    /** The states an instance shows. */
    enum State {
        /** Getting its partitions, or restoring them. */
        REBALANCING,
        /** All its partitions answer. */
        RUNNING,
        /** The index of a partition is full: that partition answers UNKNOWN. */
        FULL,
        /**
         * A record's schema is unknown here and the registry does not answer: its partition stands still, and answers report how far behind it is.
         */
        WAITING_FOR_REGISTRY,
        /** Closed, or failed. */
        STOPPED
    }

    DirectoryHealth(LocalShards copies, DirectoryMetrics metrics) {
        this.copies = copies;
        this.metrics = metrics;
        parts = new HealthParts(metrics.registry());
        parts.add("streams", () -> switch (state()) {
            case REBALANCING -> HealthParts.State.failed("its partitions are not all here: " + detail);
            case STOPPED -> HealthParts.State.failed("it has stopped: " + detail);
            case RUNNING, FULL, WAITING_FOR_REGISTRY -> HealthParts.State.WELL;
        });
        parts.add("registry", () -> waiting.get() > 0 ? HealthParts.State.failed(detail) : HealthParts.State.WELL);
        parts.add("index", () -> full().isEmpty() ? HealthParts.State.WELL : HealthParts.State.failed(full()));
        parts.add("records", () -> foreign.isEmpty() ? unreadable.state() : HealthParts.State.degraded(foreign));
        parts.add("state", () -> HealthParts.State.degradedUnlessEmpty(damaged));
        parts.add("space", () -> HealthParts.State.degradedUnlessEmpty(lowSpace));
    }

    State state() {
        return stopped ? State.STOPPED : switch (streams) {
            case CREATED, REBALANCING -> State.REBALANCING;
            case RUNNING -> waiting.get() > 0 ? State.WAITING_FOR_REGISTRY : full().isEmpty() ? State.RUNNING : State.FULL;
            case PENDING_SHUTDOWN, NOT_RUNNING, PENDING_ERROR, ERROR -> State.STOPPED;
        };
    }

    private String full() {
        StringBuilder full = new StringBuilder();
        copies.all().forEach((partition, index) -> index.refusal().ifPresent(
                why -> full.append(full.isEmpty() ? "" : "; ").append("partition ").append(partition).append(" answers UNKNOWN: ").append(why)));
        return full.toString();
    }

    /** The body of {@code /health}. */
    StatusServer.Report report(String instance) {
        State now = state();
        String full = full();
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        String what = full.isEmpty() ? detail : full;
        body.put("state", now.name()).put("detail", damaged.isEmpty() ? what : what + "; " + damaged).put("instance", instance);
        body.put("unreadable", metrics.unreadable());
        long blocks = 0;
        for (Map.Entry<Integer, PlacementIndex> entry : copies.all().entrySet()) {
            blocks += entry.getValue().size().blocks();
        }
        body.put("partitions", copies.all().size()).put("blocks", blocks);
        HealthParts.Level worst = parts.describe(body);
        return new StatusServer.Report(now == State.RUNNING && worst != HealthParts.Level.FAILED, body);
    }

    /** Adds a part that another class knows. */
    void add(String name, Supplier<HealthParts.State> part) {
        parts.add(name, part);
    }

    void streams(KafkaStreams.State now) {
        streams = now;
        switch (state()) {
            case RUNNING -> detail = "answering";
            case REBALANCING -> detail = "getting partitions and restoring them";
            case FULL, WAITING_FOR_REGISTRY, STOPPED -> { }
        }
    }

    @Override
    public void waits(String why) {
        LOG.warn("{}; the partition of its record stands still", why);
        waiting.incrementAndGet();
        detail = why;
    }

    @Override
    public void goesOn() {
        waiting.decrementAndGet();
        detail = "answering";
    }

    /** State was damaged and is restored; health reports it until the instance ends. */
    void damaged(String what) {
        damaged = what;
    }

    /** The last record that shows that another than the controller has written; health reports it until the instance ends. */
    void foreignRecord(String what) {
        foreign = what;
    }

    /** The last record that cannot be read; health reports it for ten minutes. */
    void unreadableRecord(String what) {
        unreadable.found(what);
    }

    /** The state directory is nearly full, or cannot be written; empty when it is well. */
    void lowSpace(String what) {
        lowSpace = what;
    }

    /** It ends, or is left as it is: beside a controller nothing ends it. */
    void failed(String why) {
        detail = why;
        stopped = true;
    }

    void closing() {
        closing = true;
    }

    boolean isClosing() {
        return closing;
    }
}
