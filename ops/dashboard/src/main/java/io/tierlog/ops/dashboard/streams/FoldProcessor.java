/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.streams;

import io.tierlog.controller.streams.DamageAtStart;
import io.tierlog.controller.streams.RowStore;
import io.tierlog.events.Codec;
import io.tierlog.events.PatientReader;
import io.tierlog.events.Reading;
import io.tierlog.events.UnknownTypeException;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.dashboard.fold.FoldLimits;
import io.tierlog.ops.dashboard.fold.PartitionFold;
import io.tierlog.ops.dashboard.fold.Row;
import io.tierlog.ops.dashboard.model.Names;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjLongConsumer;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Feeds the records of a partition to its fold. The rows that changed are written to the store before each commit, in its transaction, so that after
 * a restart the fold is where the position in the log is. Runs on the stream thread of its task.
 */
final class FoldProcessor implements Processor<byte[], byte[], Void, Void> {
    private final Shared shared;
    private final DamageAtStart damage = new DamageAtStart();
    private @Nullable ProcessorContext<Void, Void> context;
    private FoldTasks.@Nullable Task task;

    /** What all tasks of the instance share. */
    record Shared(
            Topics topics, FoldLimits limits, FoldTasks tasks, PatientReader<Event> events, PatientReader<Fact> facts,
            PatientReader<Command> commands) implements AutoCloseable {
        static Shared of(Topics topics, Codec codec, FoldLimits limits, FoldTasks tasks, PatientReader.Listener waits) {
            return new Shared(topics, limits, tasks, new PatientReader<>(codec.reader(Event.class), waits),
                    new PatientReader<>(codec.reader(Fact.class), waits), new PatientReader<>(codec.reader(Command.class), waits));
        }

        /** Ends every wait for the registry. */
        @Override
        public void close() {
            Stream.of(events, facts, commands).forEach(PatientReader::close);
        }
    }

    FoldProcessor(Shared shared) {
        this.shared = shared;
    }

    /** Runs again on the same processor when Streams revives a task after an abort. */
    @Override
    public void init(ProcessorContext<Void, Void> taskContext) {
        close();
        context = taskContext;
        RowStore store = taskContext.getStateStore(DashboardTopology.STORE);
        KeyValueStore<Bytes, byte[]> rows = store.wrapped();
        PartitionFold fold;
        try {
            fold = PartitionFold.restored(shared.limits(), kept(rows));
        } catch (TaskCorruptedException e) {
            damage.found(taskContext, e);
            return;
        }
        FoldTasks.Task begun = shared.tasks().begin(taskContext.taskId().partition(), fold);
        task = begun;
        store.beforeCommit(() -> begun.writeOut((key, value) -> rows.put(Bytes.wrap(key), value)));
    }

    private static List<Row> kept(KeyValueStore<Bytes, byte[]> rows) {
        List<Row> kept = new ArrayList<>();
        try (KeyValueIterator<Bytes, byte[]> all = rows.all()) {
            while (all.hasNext()) {
                KeyValue<Bytes, byte[]> row = all.next();
                kept.add(new Row(row.key.get(), row.value));
            }
        }
        return kept;
    }

    @Override
    public void process(Record<byte[], byte[]> record) {
        damage.check();
        FoldTasks.Task here = task;
        ProcessorContext<Void, Void> in = context;
        if (here == null || in == null) {
            throw new IllegalStateException("not initialised");
        }
        String topic = in.recordMetadata().map(RecordMetadata::topic).orElse("");
        PartitionFold fold = here.fold();
        if (topic.equals(shared.topics().events())) {
            fold(here, record, shared.events(), fold::event, Names.EVENTS);
        } else if (topic.equals(shared.topics().commands())) {
            fold(here, record, shared.commands(), fold::command, Names.COMMANDS);
        } else {
            fold(here, record, shared.facts(), fold::fact, Names.FACTS);
        }
    }

    private static <F extends WireRecord> void fold(
            FoldTasks.Task here, Record<byte[], byte[]> record, PatientReader<F> reader, ObjLongConsumer<F> into, String counter) {
        Reading<F> reading = read(reader, record.value());
        here.run(() -> {
            switch (reading) {
                case Reading.Decoded<F> good -> into.accept(good.value(), record.timestamp());
                case Reading.Unreadable<F> _ -> here.fold().unreadable(counter, record.timestamp());
            }
        });
    }

    /** A record of a later version is shown as unreadable: nothing depends on what the page shows, so it goes on. */
    private static <F extends WireRecord> Reading<F> read(PatientReader<F> reader, byte @Nullable [] value) {
        try {
            return reader.read(value).orElseThrow(() -> new IllegalStateException("closed while it waits for the schema registry"));
        } catch (UnknownTypeException e) {
            return new Reading.Unreadable<>(SkipReason.UNKNOWN, String.valueOf(e.getMessage()));
        }
    }

    @Override
    public void close() {
        FoldTasks.Task ended = task;
        task = null;
        damage.close();
        if (ended != null) {
            shared.tasks().end(ended);
        }
    }
}
