/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Outgoing;
import io.tierlog.controller.core.feed.PlacementFeed;
import io.tierlog.events.Causes;
import io.tierlog.events.Codec;
import io.tierlog.events.DeadLetter;
import io.tierlog.events.Partitions;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.directory.Placement;
import io.tierlog.schemas.event.Message;
import io.tierlog.threads.RareWarning;
import java.util.Optional;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stamps, encodes and sends the results of one input: each command as soon as it is decided, since agents wait for it, the rest at the end. Only for
 * the task's stream thread.
 */
final class ResultSender {
    private static final Logger LOG = LoggerFactory.getLogger(ResultSender.class);

    private final ProcessorContext<RecordTarget, byte[]> context;
    private final SequenceStamper stamper;
    private final Shared shared;

    /**
     * What all tasks of the instance share.
     *
     * @param direct sends commands at once; empty when they are part of the transaction
     * @param partitions number of partitions of every topic
     * @param warning about commands that could not be sent
     */
    record Shared(
            Codec codec, Topics topics, int partitions, Optional<PlainProducer> direct, ControllerMetrics metrics, RareWarning warning) {
        Shared(Codec codec, Topics topics, int partitions, Optional<PlainProducer> direct, ControllerMetrics metrics) {
            this(codec, topics, partitions, direct, metrics, new RareWarning(LOG));
        }
    }

    ResultSender(ProcessorContext<RecordTarget, byte[]> context, SequenceStamper stamper, Shared shared) {
        this.context = context;
        this.stamper = stamper;
        this.shared = shared;
    }

    /** Whether commands leave at once: then {@link #command} takes them before the rest of a result is known. */
    boolean isDirect() {
        return shared.direct().isPresent();
    }

    /** Sends what an input led to; its commands too unless they left already. */
    void send(Record<byte[], byte[]> received, Input input, DecideResult decided) {
        long nowMs = context.currentSystemTimeMs();
        if (!isDirect()) {
            decided.commands().forEach(this::command);
        }
        decided.facts().forEach(fact -> fact(fact, nowMs));
        decided.messages().forEach(message -> message(message, nowMs));
        if (input instanceof Input.Unreadable unreadable) {
            deadLetter(received, unreadable, nowMs);
        }
    }

    /** Sends a command. */
    void command(Command command) {
        long nowMs = context.currentSystemTimeMs();
        SequenceStamper.Stamped<Command> stamped =
                stamper.stamp(SequenceStamper.Kind.COMMAND, command, command.envelope(), Command::withEnvelope);
        String topic = shared.topics().commands();
        RecordTarget address = RecordTarget.of(command.envelope().aggregate(), shared.partitions());
        byte[] value = shared.codec().frame(topic, command.schema(), stamped.avro());
        shared.metrics().command(command);
        if (shared.direct().isPresent()) {
            shared.direct().get().send(new ProducerRecord<>(topic, address.partition(), nowMs, address.key(), value), this::lost, () -> {});
        } else {
            context.forward(new Record<>(address, value, nowMs), ControllerTopology.COMMANDS);
        }
    }

    private void lost(Throwable failure) {
        shared.metrics().commandLost();
        shared.warning().warn("a command could not be sent and will be sent again when its operation is overdue: {}", Causes.of(failure));
    }

    private void fact(Fact fact, long nowMs) {
        SequenceStamper.Stamped<Fact> stamped = stamper.stamp(SequenceStamper.Kind.DECISION, fact, fact.envelope(), Fact::withEnvelope);
        byte[] value = shared.codec().frame(shared.topics().decisions(), fact.schema(), stamped.avro());
        RecordTarget address = RecordTarget.of(fact.envelope().aggregate(), shared.partitions());
        shared.metrics().fact(fact);
        context.forward(new Record<>(address, value, nowMs), ControllerTopology.DECISIONS);
        for (PlacementFeed.Publication publication : PlacementFeed.of(stamped.value())) {
            RecordTarget block = RecordTarget.of(publication.namespace(), publication.block(), publication.key(), shared.partitions());
            Placement placement = publication.placement();
            byte[] published = placement == null ? null : shared.codec().encode(shared.topics().placements(), placement);
            context.forward(new Record<>(block, published, nowMs), ControllerTopology.PLACEMENTS);
        }
        PlacementFeed.epoch(stamped.value()).ifPresent(epoch -> publish(epoch, nowMs));
    }

    /** To every partition, so that a reader of one partition has the node's incarnation. */
    private void publish(PlacementFeed.EpochRecord epoch, long nowMs) {
        byte[] published = shared.codec().encode(shared.topics().placements(), epoch.epoch());
        for (int partition = 0; partition < shared.partitions(); partition++) {
            context.forward(new Record<>(new RecordTarget(epoch.key().unshared(), partition), published, nowMs), ControllerTopology.PLACEMENTS);
        }
    }

    private void message(Outgoing outgoing, long nowMs) {
        Message message = outgoing.message();
        // Not stamped: its number is the sender's own (the version of a policy), which is how the receiver drops repeats.
        byte[] value = shared.codec().encode(shared.topics().messages(), message);
        String aggregate = message.envelope().aggregate();
        RecordTarget receiver = outgoing.partition() == Outgoing.BY_NAME
                ? RecordTarget.of(aggregate, shared.partitions())
                : new RecordTarget(Partitions.key(aggregate), outgoing.partition());
        context.forward(new Record<>(receiver, value, nowMs), ControllerTopology.MESSAGES);
    }

    /** The record, with the error in its headers. */
    private void deadLetter(Record<byte[], byte[]> received, Input.Unreadable unreadable, long nowMs) {
        DeadLetter.Place place = new DeadLetter.Place(unreadable.topic(), unreadable.partition(), unreadable.offset());
        ProducerRecord<byte[], byte[]> letter = DeadLetter.of(shared.topics().deadLetters(), place, received.key(), received.value(),
                received.headers(), unreadable.reason(), unreadable.detail());
        RecordTarget address = new RecordTarget(letter.key(), letter.partition());
        context.forward(new Record<>(address, letter.value(), nowMs, letter.headers()), ControllerTopology.DEAD_LETTERS);
    }
}
