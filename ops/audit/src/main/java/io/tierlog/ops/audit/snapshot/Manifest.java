/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.snapshot;

import static io.tierlog.ops.audit.CheckedText.number;

import io.tierlog.ops.audit.CheckedText;
import io.tierlog.ops.audit.PartitionStart;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a snapshot consists of, as lines of text that end with their own checksum. Immutable.
 *
 * @param layout of its files
 * @param coreVersion version of decide and evolve that made it
 * @param events topic of the events
 * @param decisions topic of the decisions
 * @param previous name of the snapshot that it went on from; empty when it was folded from the beginning of the log
 * @param createdMs when it was made, milliseconds since 1970
 * @param parts one for each partition, ascending
 * @param bindings what else it is bound to, by name; a snapshot has none, a checkpoint of an audit has some
 */
record Manifest(
        int layout,
        int coreVersion,
        String events,
        String decisions,
        String previous,
        long createdMs,
        List<Part> parts,
        SortedMap<String, String> bindings) {
    /** Its name in the directory of the snapshot. */
    static final String FILE = "snapshot.properties";

    private static final String BINDING = "binding.";

    Manifest {
        parts = List.copyOf(parts);
        bindings = Collections.unmodifiableSortedMap(new TreeMap<>(bindings));
    }

    /** Of a snapshot. */
    Manifest(int layout, int coreVersion, String events, String decisions, String previous, long createdMs, List<Part> parts) {
        this(layout, coreVersion, events, decisions, previous, createdMs, parts, Collections.emptySortedMap());
    }

    /**
     * One partition.
     *
     * @param bytes length of its file
     * @param sha256 checksum of its file, in hexadecimal digits
     * @param placements rows of the table of placements
     */
    record Part(PartitionStart.At at, long bytes, String sha256, long placements) {
        /** Its file. */
        String file() {
            return "partition-" + at.partition();
        }
    }

    /** The lines. */
    String text() {
        CheckedText text = new CheckedText();
        text.line("layout", layout);
        text.line("core-version", coreVersion);
        text.line("events", events);
        text.line("decisions", decisions);
        text.line("previous", previous);
        text.line("created-ms", createdMs);
        text.line("partitions", parts.size());
        for (Part part : parts) {
            String prefix = "partition." + part.at.partition() + ".";
            text.line(prefix + "next-event", part.at.nextEvent());
            text.line(prefix + "next-decision", part.at.nextDecision());
            text.line(prefix + "last-ms", part.at.lastTimeMs());
            text.line(prefix + "application-id", part.at.applicationId());
            text.line(prefix + "placements", part.placements);
            text.line(prefix + "bytes", part.bytes);
            text.line(prefix + "sha256", part.sha256);
        }
        bindings.forEach((name, value) -> text.line(BINDING + name, value));
        return text.sealed();
    }

    /**
     * Reads {@link #text}.
     *
     * @throws IOException when it is not whole
     */
    static Manifest of(String text) throws IOException {
        Properties values = CheckedText.open(text, FILE);
        List<Part> parts = new ArrayList<>();
        try {
            for (int p = 0; p < number(values, "partitions"); p++) {
                String prefix = "partition." + p + ".";
                PartitionStart.At at = new PartitionStart.At(p, number(values, prefix + "next-event"), number(values, prefix + "next-decision"),
                        number(values, prefix + "last-ms"), values.getProperty(prefix + "application-id", ""));
                parts.add(new Part(at, number(values, prefix + "bytes"), values.getProperty(prefix + "sha256", ""),
                        number(values, prefix + "placements")));
            }
            SortedMap<String, String> bindings = new TreeMap<>();
            values.stringPropertyNames().stream().filter(name -> name.startsWith(BINDING))
                    .forEach(name -> bindings.put(name.substring(BINDING.length()), values.getProperty(name)));
            return new Manifest((int) number(values, "layout"), (int) number(values, "core-version"), values.getProperty("events", ""),
                    values.getProperty("decisions", ""), values.getProperty("previous", ""), number(values, "created-ms"), parts, bindings);
        } catch (NumberFormatException e) {
            throw new IOException(FILE + " is of another version: " + e.getMessage(), e);
        }
    }
}
