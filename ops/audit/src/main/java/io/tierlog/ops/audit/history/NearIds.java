/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.history;

import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.RecordCursor;
import io.tierlog.schemas.WireType;
import io.tierlog.schemas.decision.AgentAccepted;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.MigrationOpened;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.decision.RequestAdmitted;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeSet;

/** Ids of a log that an unknown id may stand for, the nearest first. Memory: a few ids. Not thread-safe. */
final class NearIds {
    private static final int MAX_IDS = 5;

    private final Subject subject;
    private final String wanted;
    private final TreeSet<Near> found = new TreeSet<>(Comparator.comparingInt(Near::distance).thenComparing(Near::id));

    private record Near(int distance, String id) {}

    NearIds(Subject subject) {
        this.subject = subject;
        this.wanted = switch (subject) {
            case Subject.Block block -> HexFormat.of().formatHex(block.key());
            case Subject.Named named -> named.id();
        };
    }

    /** Reads the decisions of all partitions. */
    List<String> read(LogSource source, Topics topics, Codec codec) {
        RecordReader<Fact> facts = codec.reader(Fact.class);
        WireType<? extends Fact> type = type();
        for (int p = 0; p < source.partitions(topics.decisions()); p++) {
            try (RecordCursor decisions = new RecordCursor(source, topics.decisions(), p)) {
                for (LogEntry.Data data = decisions.next(); data != null; data = decisions.next()) {
                    if (facts.is(data.value(), type) && facts.read(data.value()) instanceof Reading.Decoded<Fact>(Fact fact)) {
                        fact(fact);
                    }
                }
            }
        }
        return found.stream().map(Near::id).toList();
    }

    private WireType<? extends Fact> type() {
        return switch (subject) {
            case Subject.Block _ -> BlocksPlaced.TYPE;
            case Subject.Request _, Subject.Tenant _ -> RequestAdmitted.TYPE;
            case Subject.Operation _ -> OperationIssued.TYPE;
            case Subject.Migration _ -> MigrationOpened.TYPE;
            case Subject.Node _ -> AgentAccepted.TYPE;
        };
    }

    private void fact(Fact fact) {
        switch (fact) {
            case BlocksPlaced f -> f.blocks().forEach(block -> block(f.namespace(), block.block().key().hex()));
            case RequestAdmitted f -> offer(subject instanceof Subject.Tenant ? f.namespace() : f.request());
            case OperationIssued f -> offer(f.operation());
            case MigrationOpened f -> offer(f.envelope().aggregate().substring("migration/".length()));
            case AgentAccepted f -> offer(f.node());
            // type() lets no others through.
            default -> {}
        }
    }

    private void block(String namespace, String key) {
        String asked = subject instanceof Subject.Block block ? block.namespace() : "";
        if (namespace.equals(asked)) {
            offer(key);
        } else if (key.equals(wanted)) {
            keep(new Near(0, namespace + " " + key));
        }
    }

    private void offer(String id) {
        int distance = distance(wanted, id);
        if (subject instanceof Subject.Tenant) {
            distance = Math.min(distance, distance(wanted, id.substring(id.lastIndexOf('/') + 1)));
        }
        boolean isPart = id.contains(wanted) || id.startsWith(wanted.substring(0, Math.max(1, wanted.length() * 2 / 3)));
        if (isPart || distance <= Math.max(2, wanted.length() / 4)) {
            keep(new Near(distance, id));
        }
    }

    private void keep(Near near) {
        found.add(near);
        if (found.size() > MAX_IDS) {
            found.pollLast();
        }
    }

    /** Letters to insert, delete or replace (Levenshtein), in the memory of one row. */
    static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int above = row[j];
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, Math.min(above, row[j - 1]) + 1);
                diagonal = above;
            }
        }
        return row[b.length()];
    }
}
