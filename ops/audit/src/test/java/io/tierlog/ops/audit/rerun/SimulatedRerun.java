/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.rerun;

import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.MemoryLog;
import io.tierlog.ops.simulation.swarm.RandomLog;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The log of an episode of the swarm, numbered and chained as a shell writes it, and its rerun. The simulator has partitions of its own, no
 * checksums of events, and bounds that change when a controller starts.
 */
final class SimulatedRerun implements World.Watcher {
    private final Codec codec = new Codec(Schemas.bundled());
    private final List<List<LogEntry>> events = new ArrayList<>();
    private final List<List<LogEntry>> decisions = new ArrayList<>();
    private final Map<String, Integer> partitions = new HashMap<>();
    private final Map<String, RecordStamp> stamps = new HashMap<>();
    /** By partition and offset of the event, the bounds of the controller whose decisions count: the last that decided it. */
    private final List<Map<Long, Limits>> bounds = new ArrayList<>();
    private Limits limits = Limits.DEFAULTS;
    private int starts;
    private int decidedAgain;

    /** Runs the episode of a seed. */
    static SimulatedRerun of(long seed) {
        SimulatedRerun log = new SimulatedRerun();
        RandomLog.run(seed, log);
        return log;
    }

    @Override
    public void controllerStarted(Limits now) {
        limits = now;
        starts++;
        while (events.size() < now.partitions()) {
            events.add(new ArrayList<>());
            decisions.add(new ArrayList<>());
            bounds.add(new HashMap<>());
        }
    }

    /** Instances of the controller. */
    int starts() {
        return starts;
    }

    /** Events that were decided again since a transaction was undone. */
    int decidedAgain() {
        return decidedAgain;
    }

    @Override
    public void appended(int partition, long offset, Event event) {
        String aggregate = event.envelope().aggregate();
        partitions.put(aggregate, partition);
        events.get(partition).add(new LogEntry.Data(offset, 1_000 + offset, Partitions.key(aggregate), codec.encode(Topics.DEFAULT.events(), event)));
    }

    @Override
    public void decided(int partition, long offset, Event event, DecideResult result) {
        decidedAgain += bounds.get(partition).put(offset, limits) == null ? 0 : 1;
    }

    @Override
    public void committed(int partition, long offset, Fact fact) {
        String aggregate = fact.envelope().aggregate();
        // Each partition has a controller of its own, which numbers what it decides.
        String sender = partition + " " + aggregate;
        RecordStamp last = stamps.getOrDefault(sender, RecordStamp.NONE);
        Fact stamped = fact.withEnvelope(last.onto(fact.envelope()));
        stamps.put(sender, last.after(Codec.avro(stamped)));
        decisions.get(partition).add(data(offset, stamped));
    }

    /** A decision as it is on the log. */
    LogEntry.Data data(long offset, Fact fact) {
        return new LogEntry.Data(offset, 1_000 + offset, Partitions.key(fact.envelope().aggregate()), codec.encode(Topics.DEFAULT.decisions(), fact));
    }

    /** Committed decisions of a partition; a test may alter them. */
    List<LogEntry> decisions(int partition) {
        return decisions.get(partition);
    }

    Codec codec() {
        return codec;
    }

    /** Decides every partition again. */
    List<PartitionRerun.Result> rerun() {
        MemoryLog log = new MemoryLog();
        for (int p = 0; p < events.size(); p++) {
            log.withPartition(Topics.DEFAULT.events(), events.get(p)).withPartition(Topics.DEFAULT.decisions(), decisions.get(p));
        }
        List<PartitionRerun.Result> results = new ArrayList<>();
        for (int p = 0; p < events.size(); p++) {
            Map<Long, Limits> here = bounds.get(p);
            PartitionRerun.Rules rules = new PartitionRerun.Rules(
                    offset -> here.getOrDefault(offset, limits), _ -> 0, aggregate -> partitions.getOrDefault(aggregate, -1));
            results.add(new PartitionRerun(
                    new PartitionRerun.Job(log, Topics.DEFAULT, codec, p, events.size(), Optional.empty(), rules)).run());
        }
        return results;
    }
}
