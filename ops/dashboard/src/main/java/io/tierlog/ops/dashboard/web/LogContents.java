/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.http.Problem;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.snapshot.Snapshot;
import io.tierlog.ops.audit.snapshot.SnapshotDirectory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * What is kept beside the live rows: the last {@value #LETTERS} dead letters, the offsets that the log still has, and its snapshots. Read when a page
 * asks ({@link LogWork}). Safe for use by several threads.
 */
public final class LogContents {
    static final int LETTERS = 50;
    private static final int OFFSETS = 200;
    private static final int MOST_TEXT = 200;
    private static final int MOST_HEX = 32;
    private static final int SNAPSHOTS = 50;

    private final Tail log;
    private final Topics topics;
    private final Optional<Path> snapshots;
    private final LogWork work;

    /** The end of the log at a moment. */
    @FunctionalInterface
    public interface Tail {
        /** The last {@code most} offsets of each partition, of the records up to {@code toMs}. */
        ClusterLog apply(long most, long toMs);
    }

    /**
     * A log.
     *
     * @param log gives ends of the log
     * @param snapshots directory of its snapshots; empty when none was configured
     */
    public LogContents(Tail log, Topics topics, Optional<Path> snapshots, LogWork work) {
        this.log = log;
        this.topics = topics;
        this.snapshots = snapshots;
        this.work = work;
    }

    /**
     * All of it.
     *
     * @param atMs leaves out dead letters and snapshots that are later; 0 for none
     * @throws Problem those of {@link LogWork}
     */
    ObjectNode json(long atMs) {
        long toMs = atMs > 0 ? atMs : Long.MAX_VALUE;
        return work.run(() -> {
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            try (ClusterLog tail = log.apply(OFFSETS, toMs)) {
                put(json, "letters", rows -> letters(rows, tail));
                put(json, "kept", rows -> kept(rows, tail));
            }
            snapshots.ifPresent(directory -> {
                json.put("snapshotDirectory", directory.toString());
                if (Files.isDirectory(directory)) {
                    put(json, "snapshots", rows -> snapshots(rows, directory, toMs));
                }
            });
            return json;
        }, "retry in a moment");
    }

    /** A part that cannot be read is left out, and {@code problems} has why; the others are there. */
    private static void put(ObjectNode json, String name, Consumer<ArrayNode> part) {
        ArrayNode rows = JsonNodeFactory.instance.arrayNode();
        try {
            part.accept(rows);
            json.set(name, rows);
        } catch (AuditException e) {
            json.withArray("problems").add(e.getMessage() + ": " + e.hint());
        }
    }

    private void letters(ArrayNode json, LogSource source) {
        // Of each letter only what is shown is kept: it may be three quarters of a megabyte.
        List<ObjectNode> found = new ArrayList<>();
        try (LogSource.Stream stream = source.openAll(topics.deadLetters())) {
            for (List<LogEntry> entries = stream.next(); !entries.isEmpty(); entries = stream.next()) {
                for (LogEntry entry : entries) {
                    if (entry instanceof LogEntry.Data data) {
                        found.add(letter(data));
                    }
                }
            }
        }
        found.stream().sorted(Comparator.comparingLong((ObjectNode letter) -> letter.path("timeMs").asLong()).reversed()).limit(LETTERS)
                .forEach(json::add);
    }

    /** A payload of an engine may have tokens of a prompt, and what a parser says of it too, so neither is shown. */
    private static ObjectNode letter(LogEntry.Data data) {
        String topic = header(data.headers(), "tierlog.topic");
        byte[] value = data.value() == null ? new byte[0] : data.value();
        return JsonNodeFactory.instance.objectNode().put("timeMs", data.timestampMs())
                .put("from", topic.isEmpty() ? header(data.headers(), "tierlog.source")
                        : topic + "-" + header(data.headers(), "tierlog.partition") + "@" + header(data.headers(), "tierlog.offset"))
                .put("reason", header(data.headers(), "tierlog.reason"))
                .put("detail", topic.isEmpty() ? "" : header(data.headers(), "tierlog.detail")).put("hidden", topic.isEmpty())
                .put("key", data.key() == null ? "" : text(data.key())).put("bytes", value.length)
                .put("begins", topic.isEmpty() ? "" : text(value));
    }

    private static String header(Headers headers, String name) {
        @Nullable Header last = headers.lastHeader(name);
        return last == null || last.value() == null ? "" : new String(last.value(), StandardCharsets.UTF_8);
    }

    /** The first bytes as text, or in hexadecimal digits where they are none. */
    private static String text(byte[] bytes) {
        String text = new String(bytes, 0, Math.min(bytes.length, MOST_TEXT), StandardCharsets.UTF_8);
        // The last character may be cut.
        String whole = bytes.length <= MOST_TEXT ? text : text.replaceAll("\uFFFD+$", "");
        if (whole.chars().noneMatch(c -> (Character.isISOControl(c) && !Character.isWhitespace(c)) || c == '\uFFFD')) {
            return bytes.length <= MOST_TEXT ? whole : whole + "…";
        }
        String hex = HexFormat.ofDelimiter(" ").formatHex(Arrays.copyOf(bytes, Math.min(bytes.length, MOST_HEX)));
        return bytes.length <= MOST_HEX ? hex : hex + " …";
    }

    private void kept(ArrayNode json, ClusterLog source) {
        for (String topic : List.of(topics.events(), topics.decisions())) {
            source.kept(topic).forEach((partition, kept) ->
                    json.addObject().put("topic", topic).put("partition", partition).put("begin", kept.begin()).put("end", kept.end()));
        }
    }

    private static void snapshots(ArrayNode json, Path directory, long toMs) {
        List<Snapshot> all = new SnapshotDirectory(directory).list().stream().filter(each -> each.createdMs() <= toMs).toList().reversed();
        for (Snapshot each : all.subList(0, Math.min(SNAPSHOTS, all.size()))) {
            ObjectNode row = json.addObject().put("name", each.name()).put("createdMs", each.createdMs()).put("verified", each.isVerified())
                    .put("placements", each.placements()).put("bytes", each.bytes()).put("previous", each.previous());
            ArrayNode places = row.putArray("places");
            each.places().forEach(at -> places.addObject().put("partition", at.partition()).put("nextEvent", at.nextEvent())
                    .put("nextDecision", at.nextDecision()));
        }
    }
}
