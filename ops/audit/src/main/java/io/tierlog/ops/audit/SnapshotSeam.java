/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordStamp;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.util.Optional;

/**
 * Whether a partition of a log is the one that a snapshot was made of: its last decision, and the event that it answers, have the number and the
 * checksum that the snapshot has of them. Names and offsets alone do not show that: topics that were deleted and made again have the same.
 */
public final class SnapshotSeam {
    private final LogSource source;
    private final Topics topics;
    private final Codec codec;
    private final String what;

    /** A log, and a snapshot. */
    public SnapshotSeam(LogSource source, Topics topics, Codec codec) {
        this(source, topics, codec, "snapshot");
    }

    /** A log; {@code what} begins at a place in it. */
    SnapshotSeam(LogSource source, Topics topics, Codec codec, String what) {
        this.what = what;
        this.source = source;
        this.topics = topics;
        this.codec = codec;
    }

    /**
     * Compares a partition. Reads one record of each topic.
     *
     * @param start the partition in the snapshot
     * @throws AuditException when a record is another one or is not there, or cannot be read
     */
    public void require(PartitionStart start) {
        PartitionStart.At at = start.at();
        PartitionAudit audit = new PartitionAudit(
                new PartitionAudit.Job(source, topics, codec, at.partition(), true, Optional.of(start), at.lastDecision()), new Silent());
        SnapshotFold.goOn(start, audit, new PlacementCheck(at.partition()));
        require(start, audit);
    }

    /** As the other; {@code audit} has the state in which the partition was left and has read nothing since. */
    void require(PartitionStart start, PartitionAudit audit) {
        PartitionStart.At at = start.at();
        if (at.lastDecision() < 0) {
            return;
        }
        LogEntry.Data decision = at(topics.decisions(), at.partition(), at.lastDecision());
        if (!(codec.reader(Fact.class).read(decision.value()) instanceof Reading.Decoded<Fact>(Fact fact))
                || !stamp(fact.envelope(), decision).equals(start.stamps().get(fact.envelope().aggregate()))
                || LogInvariants.causeOffset(fact) != at.lastEvent()) {
            throw another(topics.decisions(), at.partition(), at.lastDecision(), "holds another record than the " + what + "'s last decision");
        }
        if (at.lastEvent() < 0) {
            return;
        }
        LogEntry.Data event = at(topics.events(), at.partition(), at.lastEvent());
        // The decision about an event that cannot be read says so: there is no number to compare.
        if (codec.reader(Event.class).read(event.value()) instanceof Reading.Decoded<Event>(Event value)) {
            RecordStamp known = audit.eventStamp(value.envelope());
            boolean numbered = !value.envelope().sender().equals("policy");
            if (numbered && !stamp(value.envelope(), event).equals(known)) {
                throw another(topics.events(), at.partition(), at.lastEvent(), "holds another record than the " + what + "'s last event");
            }
        }
    }

    private LogEntry.Data at(String topic, int partition, long offset) {
        try (RecordCursor cursor = new RecordCursor(source, topic, partition, offset)) {
            LogEntry.Data found = cursor.next();
            if (found == null || found.offset() != offset) {
                throw another(topic, partition, offset, "holds no committed record, and the " + what + " ends with one there");
            }
            return found;
        }
    }

    private static RecordStamp stamp(Envelope envelope, LogEntry.Data data) {
        byte[] bytes = data.value();
        return new RecordStamp(envelope.sequence(), bytes == null ? 0 : RecordStamp.crc32cOfFramed(bytes));
    }

    private AuditException another(String topic, int partition, long offset, String detail) {
        return new AuditException("the " + what + " is of another log, or the log was altered since: offset " + offset
                + " of partition " + partition + " of " + topic + " " + detail,
                "give a " + what + " of this log, or look at --bootstrap-servers and --topic-prefix");
    }

    /** No record is folded. */
    private static final class Silent implements PartitionAudit.Listener {
        @Override
        public void found(Finding finding) {}

        @Override
        public void read(long records, long bytes) {}

        @Override
        public void fact(long offset, Fact decision) {}
    }
}
