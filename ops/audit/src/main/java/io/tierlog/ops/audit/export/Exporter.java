/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.export;

import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.ops.audit.Stretch;
import io.tierlog.ops.audit.history.RecordFields;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.event.Event;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.jspecify.annotations.Nullable;

/**
 * Writes a stretch of a log as three tables: events, decisions, and placements over time. Prompts are not in a log, only the keys of their blocks.
 * One partition after the other. Memory: the placements that serve. One instance exports once.
 */
public final class Exporter {
    /** Fields that have columns of their own, too. */
    private static final List<String> OWN_COLUMNS = List.of("namespace", "request", "operation", "tier", "reason");

    private static final Schema TIME = LogicalTypes.timestampMillis().addToSchema(Schema.create(Schema.Type.LONG));
    private static final Schema MAYBE_TIME = Schema.createUnion(Schema.create(Schema.Type.NULL), TIME);

    private static final Schema RECORDS = SchemaBuilder.record("LogRecord").namespace("io.tierlog.export").fields()
            .requiredInt("partition")
            .requiredLong("offset")
            .name("time").type(TIME).noDefault()
            .requiredString("type")
            .requiredString("aggregate")
            .requiredString("sender")
            .requiredLong("sequence")
            .name("cause").doc("Of a decision: offset of the event that it answers; null for none.").type().optional().longType()
            .optionalString("namespace")
            .optionalString("request")
            .optionalString("operation")
            .optionalString("tier")
            .optionalString("reason")
            .name("fields").doc("All fields as text, by path.").type().map().values().stringType().noDefault()
            .endRecord();

    private static final Schema PLACEMENTS = SchemaBuilder.record("Placement").namespace("io.tierlog.export").fields()
            .requiredInt("partition")
            .name("owner").doc("node/ID or store/SHARD.").type().stringType().noDefault()
            .requiredString("tier")
            .requiredString("namespace")
            .name("key").doc("Hexadecimal.").type().stringType().noDefault()
            .requiredInt("index")
            .requiredInt("page")
            .requiredLong("generation")
            .name("operation").doc("Operation that brought it; null when none did.").type().optional().stringType()
            .requiredLong("placed_offset")
            .name("from_time").type(TIME).noDefault()
            .name("removed_offset").doc("Null when it serves at the end of the stretch.").type().optional().longType()
            .name("to_time").type(MAYBE_TIME).withDefault(null)
            .optionalString("reason")
            .endRecord();

    private final LogSource source;
    private final Topics topics;
    private final Codec codec;
    private long unreadableBefore;

    /** One file that was written. */
    public record Table(String name, Path file, long rows, long bytes) {}

    /** A log. A record that cannot be decoded ends the export. */
    public Exporter(LogSource source, Topics topics, Codec codec) {
        this.source = source;
        this.topics = topics;
        this.codec = codec;
    }

    /** Decisions before the stretch that cannot be decoded: placements that began or ended by one of them are wrong. */
    public long unreadableBefore() {
        return unreadableBefore;
    }

    /**
     * Writes the tables into a directory, which is made when it is not there.
     *
     * @throws AuditException when the log has no such stretch, cannot be read, or is damaged, or when a file is there already or cannot be written
     */
    public List<Table> write(Path directory, Stretch wanted) {
        int partitions = source.partitions(topics.decisions());
        Stretch stretch = wanted.in(partitions);
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new AuditException("cannot make the directory " + directory + ": " + e.getMessage(), "choose another directory", e);
        }
        try (TableFile events = new TableFile(directory, "events", RECORDS);
                TableFile decisions = new TableFile(directory, "decisions", RECORDS);
                TableFile placements = new TableFile(directory, "placements", PLACEMENTS)) {
            for (int p : stretch.chosen(partitions)) {
                Stretch.Part part = stretch.of(source, topics, codec, p);
                events(p, part, events);
                decisions(p, part, decisions, placements);
            }
            return List.of(events.finish("events"), decisions.finish("decisions"), placements.finish("placements"));
        }
    }

    private void events(int partition, Stretch.Part part, TableFile table) {
        RecordReader<Event> reader = codec.reader(Event.class);
        try (RecordCursor records = new RecordCursor(source, topics.events(), partition)) {
            for (LogEntry.Data data = records.next();
                    data != null;
                    data = part.endsAtEvent(data.offset(), data.timestampMs()) ? null : records.next()) {
                if (!part.hasEvent(data.offset(), data.timestampMs())) {
                    continue;
                }
                Reading<Event> reading = reader.read(data.value());
                Event event = decoded(reading, topics.events(), partition, data.offset());
                table.add(record(partition, data, event, event.envelope(), null));
            }
        }
    }

    private void decisions(int partition, Stretch.Part part, TableFile table, TableFile placements) {
        RecordReader<Fact> reader = codec.reader(Fact.class);
        Span span = new Span();
        PlacementIntervals intervals = new PlacementIntervals(interval -> {
            if (span.overlaps(interval)) {
                placements.add(placement(partition, interval));
            }
        });
        try (RecordCursor records = new RecordCursor(source, topics.decisions(), partition)) {
            long cause = -1;
            for (LogEntry.Data data = records.next();
                    data != null;
                    data = part.endsAt(data.offset(), data.timestampMs(), cause) ? null : records.next()) {
                if (part.isBefore(data.offset(), data.timestampMs())) {
                    span.over = true; // What is not in the stretch need not be readable. By a time, a later record may be in it again.
                    continue;
                }
                Reading<Fact> reading = reader.read(data.value());
                if (reading instanceof Reading.Unreadable<Fact> && part.isBehind(data.offset(), data.timestampMs())) {
                    unreadableBefore++;
                    continue;
                }
                Fact fact = decoded(reading, topics.decisions(), partition, data.offset());
                cause = LogInvariants.causeOffset(fact);
                boolean isIn = part.hasDecision(data.offset(), data.timestampMs(), cause);
                if (!isIn && part.endsAt(data.offset(), data.timestampMs(), cause)) {
                    break;
                }
                span.begun |= isIn;
                if (!span.over) {
                    intervals.fact(fact, new PlacementIntervals.At(data.offset(), data.timestampMs()));
                }
                if (isIn) {
                    table.add(record(partition, data, fact, fact.envelope(), cause < 0 ? null : cause));
                }
            }
        }
        intervals.finish();
    }

    /** How far the reading of decisions is. */
    private static final class Span {
        private boolean begun;
        private boolean over;

        /** Placements that ended before the stretch are no rows of it; those that begin after it are not seen. */
        private boolean overlaps(PlacementIntervals.Interval interval) {
            return begun || interval.end() == null;
        }
    }

    private static <T extends WireRecord> T decoded(Reading<T> reading, String topic, int partition, long offset) {
        return switch (reading) {
            case Reading.Decoded<T> good -> good.value();
            case Reading.Unreadable<T> bad -> throw new AuditException(
                    topic + "-" + partition + "@" + offset + " cannot be decoded: " + bad.detail(),
                    "export a stretch without it with --from and --to; audit verify says what else is damaged");
        };
    }

    private static GenericRecord record(int partition, LogEntry.Data data, WireRecord record, Envelope envelope, @Nullable Long cause) {
        Map<String, String> fields = new TreeMap<>(RecordFields.flat(record));
        fields.keySet().removeIf(path -> path.startsWith("envelope."));
        GenericRecordBuilder row = new GenericRecordBuilder(RECORDS)
                .set("partition", partition).set("offset", data.offset()).set("time", data.timestampMs())
                .set("type", record.schema().getName()).set("aggregate", envelope.aggregate()).set("sender", envelope.sender())
                .set("sequence", envelope.sequence()).set("cause", cause).set("fields", fields);
        OWN_COLUMNS.forEach(column -> row.set(column, fields.get(column)));
        return row.build();
    }

    private static GenericRecord placement(int partition, PlacementIntervals.Interval interval) {
        PlacementIntervals.Begun begun = interval.begun();
        PlacementIntervals.At end = interval.end();
        return new GenericRecordBuilder(PLACEMENTS)
                .set("partition", partition).set("owner", interval.aggregate()).set("tier", interval.tier().name())
                .set("namespace", interval.namespace()).set("key", interval.key().hex()).set("index", begun.index()).set("page", begun.page())
                .set("generation", begun.generation()).set("operation", begun.operation()).set("placed_offset", begun.at().offset())
                .set("from_time", begun.at().timeMs()).set("removed_offset", end == null ? null : end.offset())
                .set("to_time", end == null ? null : end.timeMs()).set("reason", interval.reason())
                .build();
    }
}
