/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.directory.index.IndexLimits;
import io.tierlog.controller.directory.index.PlacementIndex;
import io.tierlog.controller.directory.streams.PlacementDecoder.Change;
import io.tierlog.controller.streams.DamageAtStart;
import io.tierlog.schemas.directory.NodeEpoch;
import io.tierlog.threads.RareWarning;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the store of one partition as the topic has it, and the index as the store. The index is built from the store when the task begins and
 * answers from then on. One thread. Trade-off: building it takes a few seconds for each million of placements, in which a standby answers.
 */
final class IndexProcessor implements Processor<byte[], byte[], Void, Void> {
    private static final Logger LOG = LoggerFactory.getLogger(IndexProcessor.class);

    private final Shared shared;
    private ForeignRecords foreign = new ForeignRecords();
    private final RareWarning warning = new RareWarning(LOG);
    private final DamageAtStart damage = new DamageAtStart();
    private @Nullable Task task;
    private boolean toldFull;

    /** What all tasks of an instance share. */
    record Shared(PlacementDecoder decoder, LocalShards copies, IndexLimits limits, DirectoryMetrics metrics, DirectoryHealth health) {}

    /** What a task has of its own. */
    private record Task(ProcessorContext<Void, Void> context, KeyValueStore<byte[], byte[]> store, PlacementIndex index) {
        int partition() {
            return context.taskId().partition();
        }
    }

    IndexProcessor(Shared shared) {
        this.shared = shared;
    }

    @Override
    public void init(ProcessorContext<Void, Void> context) {
        close(); // Streams leaves out the end of a task that fails right after its beginning
        // What comes after the last commit comes again, with lower numbers.
        foreign = new ForeignRecords();
        toldFull = false;
        int partition = context.taskId().partition();
        KeyValueStore<byte[], byte[]> store = context.getStateStore(DirectoryTopology.STORE);
        PlacementIndex index = new PlacementIndex(shared.limits(), shared.copies().incarnations());
        shared.copies().reach(partition).begin();
        Task begun = new Task(context, store, index);
        task = begun;
        long beganNs = System.nanoTime();
        try (KeyValueIterator<byte[], byte[]> rows = store.all()) {
            while (rows.hasNext()) {
                KeyValue<byte[], byte[]> row = rows.next();
                apply(begun, shared.decoder().read(row.key, row.value));
            }
        } catch (TaskCorruptedException e) {
            damage.found(context, e);
            return;
        }
        shared.copies().add(partition, index);
        LOG.info("partition {}: {} blocks from the store in {} ms", partition, index.size().blocks(),
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs));
    }

    @Override
    public void process(Record<byte[], byte[]> record) {
        damage.check();
        Task here = Objects.requireNonNull(task, "init() comes first");
        byte[] key = record.key();
        Optional<Change> forged = shared.decoder().forged(record, here.partition());
        if (key != null && forged.isEmpty()) {
            here.store().put(key, record.value());
        }
        Change change = forged.orElseGet(() -> shared.decoder().read(key, record.value()));
        lookAt(here, change);
        apply(here, change);
        here.context().recordMetadata().ifPresent(
                where -> shared.copies().reach(here.partition()).took(where.offset(), record.timestamp()));
    }

    /** Records of a restored store have no order any more, so only those that come are compared. */
    private void lookAt(Task here, Change change) {
        Optional<String> wrong = switch (change) {
            case Change.Put put -> foreign.outOfOrder(put.envelope());
            case Change.EpochChanged(NodeEpoch epoch) -> foreign.outOfOrder(epoch.envelope());
            case Change.Removed _, Change.Unreadable _, Change.Nameless _ -> Optional.empty();
        };
        wrong.ifPresent(what -> {
            String where = here.context().recordMetadata().map(at -> " at offset " + at.offset()).orElse("");
            shared.metrics().countOutOfOrder();
            shared.health().foreignRecord("partition " + here.partition() + where + ": " + what);
            warning.warn("partition {}{}: {}", here.partition(), where, what);
        });
    }

    private void apply(Task here, Change change) {
        switch (change) {
            case Change.Put(var block, var placed, _) -> taken(here, here.index().put(block, placed));
            case Change.Removed(var block, var location) -> here.index().remove(block, location);
            case Change.EpochChanged(NodeEpoch epoch) -> shared.copies().nodes().apply(epoch);
            case Change.Unreadable(var block, var location, String why) -> {
                unreadable(here, "the record of " + block.key() + " at " + location + " cannot be read: " + why);
                taken(here, here.index().unreadable(block, location));
            }
            case Change.Nameless(String why) -> unreadable(here, "a record is passed over: " + why);
        }
    }

    private void unreadable(Task here, String what) {
        shared.metrics().countUnreadable();
        shared.health().unreadableRecord("partition " + here.partition() + ": " + what);
        LOG.warn("partition {}: {}", here.partition(), what);
    }

    private void taken(Task here, PlacementIndex.Taken taken) {
        if (taken == PlacementIndex.Taken.FULL && !toldFull) {
            toldFull = true;
            LOG.error("partition {} answers UNKNOWN from now on: {}", here.partition(), here.index().refusal().orElse(""));
        }
    }

    @Override
    public void close() {
        damage.close();
        Task here = task;
        if (here != null) {
            shared.copies().remove(here.partition(), here.index());
            here.index().close();
            task = null;
        }
    }
}
