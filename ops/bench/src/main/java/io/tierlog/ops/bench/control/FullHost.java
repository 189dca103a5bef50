/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.events.Codec;
import io.tierlog.events.Partitions;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Records the log of {@link BusyNodes}, the events alone. Confined to one thread, used once. */
final class FullHost implements BusyNodes.Log {
    private static final int REQUESTS_A_SECOND = 48;

    private final Codec codec;
    private final Shape shape;
    private final BusyNodes nodes;
    private final List<RecordedLog.Entry> records = new ArrayList<>();
    private final Map<String, Long> decisions = new TreeMap<>();
    private MixCount mix = new MixCount();

    /**
     * What is made.
     *
     * @param topic whose frames the records get
     * @param nodes spread evenly over the partitions
     * @param partitions of the log
     * @param hostBlocks capacity of each host
     */
    record Shape(String topic, List<String> nodes, int partitions, int hostBlocks) {}

    FullHost(Codec codec, Shape shape, long firstTimeMs) {
        this.codec = codec;
        this.shape = shape;
        this.nodes = new BusyNodes(
                new BusyNodes.Shape(shape.nodes(), shape.partitions(), shape.hostBlocks(), Agent.DEVICE_BLOCKS, Long.MAX_VALUE), firstTimeMs, this);
    }

    /** The hosts are filled, which is the warm-up; then come so many requests. */
    RecordedLog record(int requests) {
        nodes.fill();
        int warmUp = records.size();
        mix = new MixCount();
        for (int number = 0; number < requests; number++) {
            nodes.submit(number % shape.nodes().size(), number);
            if (number % REQUESTS_A_SECOND == 0) {
                nodes.second();
            }
        }
        return new RecordedLog(shape.partitions(), records, warmUp, mix.mix(), decisions);
    }

    @Override
    public void event(int partition, Event event, byte[] avro, long burst) {
        byte[] value = codec.frame(shape.topic(), event.schema(), avro);
        records.add(new RecordedLog.Entry(partition, Partitions.key(event.envelope().aggregate()), value, burst));
        mix.add(event);
    }

    @Override
    public void decided(DecideResult decided) {
        for (Fact fact : decided.facts()) {
            decisions.merge(fact.schema().getName(), 1L, Long::sum);
        }
    }
}
