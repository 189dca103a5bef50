/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.api.CoreVersionMismatch;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.table.PlacementRuns;
import io.tierlog.controller.core.table.Table;
import io.tierlog.controller.core.table.Tables;
import io.tierlog.controller.core.time.Ticks;
import io.tierlog.schemas.event.Tick;
import java.time.Duration;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.Cancellable;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One input after the other: decodes it, lets the core decide and evolve, and sends the results. Runs on the stream thread of its task, in the
 * task's transaction. It contains no domain logic; a fault of the core stops the instance, so that the transaction is aborted and the record is
 * still there.
 */
final class EventProcessor implements Processor<byte[], byte[], RecordTarget, byte[]> {
    private static final Logger LOG = LoggerFactory.getLogger(EventProcessor.class);

    private final Parts parts;
    private final DamageAtStart damage = new DamageAtStart();
    private @Nullable Task task;
    private long passedOver;

    /**
     * What all tasks of the instance share.
     *
     * @param spans null when traces are off
     */
    record Parts(
            Core core,
            EventDecoder decoder,
            PartitionClock.Shared clock,
            ResultSender.Shared sender,
            Sampler.Shared sampling,
            ControllerMetrics metrics,
            Opening opening,
            Duration tick,
            @Nullable DecisionSpans spans) {
        /** Without traces. */
        Parts(
                Core core,
                EventDecoder decoder,
                PartitionClock.Shared clock,
                ResultSender.Shared sender,
                Sampler.Shared sampling,
                ControllerMetrics metrics,
                Opening opening,
                Duration tick) {
            this(core, decoder, clock, sender, sampling, metrics, opening, tick, null);
        }
    }

    /** Looks at a partition before its first input is decided. */
    @FunctionalInterface
    interface Opening {
        /**
         * @param state what the restored state holds of the decisions of the partition
         * @return offset of the last event that was decided; -1 when none was
         * @throws ControllerException when this instance must not decide the partition
         */
        long check(int partition, SequenceStamper state);

        /** This instance does not decide the partition any longer. */
        default void ended(int partition) {}
    }

    /** What belongs to the task. */
    private record Task(
            ProcessorContext<RecordTarget, byte[]> context,
            TaskRows rows,
            ResultSender sender,
            Sampler sampler,
            TimerLag timers,
            Cancellable ticks,
            long decided) {}

    EventProcessor(Parts parts) {
        this.parts = parts;
    }

    /** Runs again on the same processor when Streams revives a task, or gives it back. */
    @Override
    public void init(ProcessorContext<RecordTarget, byte[]> context) {
        close();
        RowStore store = context.getStateStore(ControllerTopology.STORE);
        TaskRows rows = new TaskRows(context, store);
        PartitionClock clock = new PartitionClock(parts.clock(), context.taskId().partition());
        long decided;
        try {
            decided = parts.opening().check(context.taskId().partition(), rows.stamper());
            rows.load();
        } catch (TaskCorruptedException e) {
            damage.found(context, e);
            return;
        }
        Sampler sampler = new Sampler(parts.sampling(), context.taskId().partition());
        TimerLag timers = new TimerLag(parts.metrics(), parts.sampling().health(), context.taskId().partition());
        ResultSender sender = new ResultSender(context, rows.stamper(), parts.sender());
        Cancellable ticks = context.schedule(parts.tick(), PunctuationType.WALL_CLOCK_TIME, wallMs -> tick(clock, rows, context, wallMs));
        task = new Task(context, rows, sender, sampler, timers, ticks, decided);
    }

    private static void tick(PartitionClock clock, TaskRows rows, ProcessorContext<RecordTarget, byte[]> context, long wallMs) {
        int partition = context.taskId().partition();
        if (clock.isEnding() && Ticks.areNodesGone(rows.tables(), partition)) {
            clock.rest();
            return;
        }
        long nowMs = clock.timeMs(wallMs, Ticks.logTimeMs(rows.tables(), partition));
        clock.tick(nowMs, Ticks.isQuiet(rows.tables(), partition, nowMs));
    }

    /** Streams keeps the schedules of a task that it closes and revives: they are cancelled here. */
    @Override
    public void close() {
        Task ended = task;
        task = null;
        damage.close();
        if (ended != null) {
            ended.ticks().cancel();
            ended.timers().close();
            ended.rows().close();
            parts.opening().ended(ended.context().taskId().partition());
        }
    }

    @Override
    public void process(Record<byte[], byte[]> record) {
        long startNs = System.nanoTime();
        damage.check();
        Task here = task();
        RecordMetadata meta = here.context()
                .recordMetadata()
                .orElseThrow(() -> new IllegalStateException("a record without a place in a topic came in"));
        InputPosition position = new InputPosition(meta.partition(), meta.offset());
        if (position.offset() <= here.decided()) {
            if (passedOver++ == 0) {
                LOG.warn("the group's offset of partition {} was lost: events up to {} were decided before and are passed over",
                        meta.partition(), here.decided());
            }
            return;
        }
        Input input = taken(position, record);
        DecisionSpans.Decided span = parts.spans() == null ? null : parts.spans().begin(position, input);
        DecideResult decided;
        try {
            decided = decide(here, position, input);
            here.sender().send(record, input, decided);
        } catch (RuntimeException e) {
            if (span != null) {
                span.abandon();
            }
            throw e;
        }
        if (span != null) {
            span.end(decided);
        }
        if (input instanceof Input.Recorded recorded && recorded.event() instanceof Tick) {
            here.timers().tick(here.rows().tables());
            parts.metrics().placements(here.context().taskId().partition(), here.rows().placements());
            here.sampler().tick(here.rows().tables());
        }
        here.rows().inputDone(position.offset(), record.value());
        long ageMs = here.context().currentSystemTimeMs() - record.timestamp();
        parts.metrics().decided(Outcomes.of(decided.outcome()).name(), System.nanoTime() - startNs, ageMs);
    }

    private Input taken(InputPosition position, Record<byte[], byte[]> record) {
        Input input;
        try {
            input = parts.decoder().take(position, record.key(), record.value(), record.headers());
        } catch (ControllerException.Closing e) {
            throw e;
        } catch (RuntimeException e) {
            throw new ControllerException.InputFailed(position, "reading", e);
        }
        switch (input) {
            case Input.Recorded recorded -> parts.metrics().input(recorded.event());
            case Input.Unreadable _ -> parts.metrics().unreadable();
        }
        return input;
    }

    private DecideResult decide(Task here, InputPosition position, Input input) {
        try {
            Tables tables = here.rows().tables();
            return here.sender().isDirect() ? parts.core().step(tables, input, here.sender()::command) : parts.core().step(tables, input);
        } catch (StreamsException | Table.Unreadable e) {
            // Streams deals with its own: a fenced task is closed, and another instance goes on. A damaged row is no fault of the record.
            throw e;
        } catch (CoreVersionMismatch e) {
            throw new ControllerException.LaterVersion(e);
        } catch (PlacementRuns.TooMany | PlacementRuns.OtherForm e) {
            throw here.rows().unusable(e);
        } catch (RuntimeException e) {
            String what = switch (input) {
                case Input.Recorded recorded -> recorded.event().schema().getName();
                case Input.Unreadable unreadable -> "unreadable: " + unreadable.reason();
            };
            throw new ControllerException.InputFailed(position, what, e);
        }
    }

    private Task task() {
        if (task == null) {
            throw new IllegalStateException("not initialised");
        }
        return task;
    }
}
