/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.core.state.Aggregates;
import io.tierlog.controller.core.state.NodeRows;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.http.JsonBody;
import io.tierlog.events.Codec;
import io.tierlog.events.Reading;
import io.tierlog.events.RecordReader;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.LogEntry;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.Moment;
import io.tierlog.ops.audit.Stretch;
import io.tierlog.ops.audit.history.History;
import io.tierlog.ops.audit.history.HistoryReader;
import io.tierlog.ops.audit.history.Subject;
import io.tierlog.ops.audit.state.LogState;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.directory.Placement;
import io.tierlog.schemas.directory.Published;
import io.tierlog.schemas.state.NodeRow;
import io.tierlog.schemas.state.PlacementRow;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Finds one block or request in the log, with the code of {@code audit block} and {@code audit request}. One search at a time
 * ({@link LogWork}), over the last {@value #OFFSETS} offsets of all partitions of a topic together; of what it finds it shows the last
 * {@value #RECORDS} records and the first {@value #BLOCKS} blocks of the prefix tree. Safe for use by several threads.
 */
public final class Explorer {
    static final int RECORDS = 300;
    static final int BLOCKS = 400;
    private static final long OFFSETS = 2_000_000;
    private static final int MOST_TEXT = 64 << 10;
    private static final long MOST_MS = 1L << 50;
    private static final Pattern KEY = Pattern.compile("([0-9a-fA-F]{2}){8,32}");

    private final LongFunction<ClusterLog> log;
    private final Topics topics;
    private final Codec codec;
    private final LogWork work;
    private final TimeTravel past;

    /**
     * A log.
     *
     * @param log gives the last so many offsets of each partition
     * @param past has the tables of past moments
     */
    public Explorer(LongFunction<ClusterLog> log, Topics topics, Codec codec, LogWork work, TimeTravel past) {
        this.past = past;
        this.work = work;
        this.log = log;
        this.topics = topics;
        this.codec = codec;
    }

    /**
     * What the log says about {@code what}: a request id, or keys of blocks in hexadecimal digits, of which the last is meant. Blocks need a
     * {@code namespace}. With {@code atMs}, milliseconds since 1970, what it says up to that moment.
     *
     * @throws Problem INVALID_REQUEST when the body names nothing, and those of {@link LogWork}
     */
    ObjectNode json(JsonBody body) {
        String text = body.text("what", MOST_TEXT).orElse("").strip();
        String namespace = body.text("namespace", 1_024).orElse("").strip();
        List<String> words = List.of(text.split("[\\s,\"\\[\\]]+")).stream().filter(word -> !word.isEmpty()).toList();
        if (words.isEmpty()) {
            body.finding("what", "a request id, or keys of blocks");
        }
        boolean keys = !words.isEmpty() && words.stream().allMatch(word -> KEY.matcher(word).matches());
        if (keys && namespace.isEmpty()) {
            body.finding("namespace", "must be given with the key of a block");
        }
        long atMs = body.integer("atMs", 0, MOST_MS).orElse(0);
        body.done();
        Optional<LogState> state = atMs > 0 ? Optional.of(past.state(atMs)) : Optional.empty();
        Stretch stretch = atMs > 0 ? new Stretch(Optional.empty(), Optional.of(new Moment.Time(atMs))) : Stretch.ALL;
        Subject subject = keys ? new Subject.Block(namespace, Bytes.ofHex(words.getLast().toLowerCase(Locale.ROOT)).unshared())
                : new Subject.Request(text);
        String last = words.getLast().toLowerCase(Locale.ROOT);
        return work.run(() -> search(subject, last, namespace, stretch, state), "use audit block or audit request, with --from");
    }

    private ObjectNode search(Subject subject, String last, String namespace, Stretch stretch, Optional<LogState> state)
            throws InterruptedException {
        int partitions;
        try (ClusterLog any = log.apply(1)) {
            partitions = any.partitions(topics.decisions());
        }
        try (ClusterLog source = log.apply(Math.max(1, OFFSETS / partitions))) {
            HistoryReader history = new HistoryReader(source, topics, codec, 1);
            History found = history.read(subject, stretch);
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            json.put("kind", subject instanceof Subject.Block ? "block" : "request").put("what", last).put("namespace", namespace);
            json.put("searched", history.recordsSoFar()).put("left", Math.max(0, found.entries().size() - RECORDS));
            records(json.putArray("records"), found.entries());
            if (state.isEmpty()) {
                found.placements().forEach(each -> json.withArrayProperty("placements").addObject().put("at", each.aggregate())
                        .put("tier", each.tier()).put("page", each.page()).put("generation", each.generation()).put("sinceMs", each.sinceMs()));
            } else if (subject instanceof Subject.Block) {
                serving(state.get(), namespace, Set.of(Bytes.ofHex(last)), (key, row) -> json.withArrayProperty("placements").addObject()
                        .put("at", key.aggregate()).put("tier", key.tier().name()).put("page", row.page()).put("generation", row.generation()));
            }
            prefix(json, found.prefix(), last, shown -> state.map(then -> places(shown, namespace, then))
                    .orElseGet(() -> places(shown, namespace, source)));
            found.attempts().forEach(each -> attempt(json.withArrayProperty("attempts").addObject(), each));
            found.similar().forEach(json.putArray("similar")::add);
            return json.put("cut", source.cut());
        }
    }

    private static void records(ArrayNode json, List<History.Entry> entries) {
        for (History.Entry entry : entries.subList(Math.max(0, entries.size() - RECORDS), entries.size())) {
            ObjectNode row = json.addObject().put("timeMs", entry.timeMs())
                    .put("record", entry.topic() + "-" + entry.partition() + "@" + entry.offset()).put("about", entry.aggregate())
                    .put("type", entry.type()).put("cause", entry.cause()).put("departure", entry.departure());
            entry.level().ifPresent(level -> row.put("level", level));
            entry.fields().forEach(row.putArray("fields")::add);
        }
    }

    private void prefix(ObjectNode json, List<History.PrefixBlock> blocks, String wanted,
            Function<List<History.PrefixBlock>, Map<String, Set<String>>> where) {
        List<History.PrefixBlock> shown = blocks.subList(0, Math.min(BLOCKS, blocks.size()));
        Map<String, Set<String>> places = shown.isEmpty() ? Map.of() : where.apply(shown);
        json.put("prefixLeft", blocks.size() - shown.size());
        for (History.PrefixBlock block : shown) {
            ObjectNode row = json.withArrayProperty("prefix").addObject().put("index", block.index()).put("key", block.key())
                    .put("wanted", block.key().equals(wanted)).put("forks", block.forks()).put("requests", block.requests())
                    .put("lastMs", block.lastMs());
            places.getOrDefault(block.key(), Set.of()).forEach(row.putArray("at")::add);
        }
    }

    /** Where each block serves, by its key: the last record of each placement. */
    private Map<String, Set<String>> places(List<History.PrefixBlock> blocks, String namespace, LogSource source) {
        Set<Bytes> wanted = new HashSet<>();
        blocks.forEach(block -> wanted.add(Bytes.ofHex(block.key())));
        Map<Bytes, Placement> last = new HashMap<>();
        RecordReader<Published> records = codec.reader(Published.class);
        try (LogSource.Stream stream = source.openAll(topics.placements())) {
            for (List<LogEntry> entries = stream.next(); !entries.isEmpty(); entries = stream.next()) {
                for (LogEntry entry : entries) {
                    if (entry instanceof LogEntry.Data data && data.key() != null) {
                        last.remove(Bytes.wrapUnshared(data.key()));
                        if (records.read(data.value()) instanceof Reading.Decoded<Published>(Placement placement)
                                && wanted.contains(placement.block().key()) && placement.namespace().equals(namespace)) {
                            last.put(Bytes.wrapUnshared(data.key()), placement);
                        }
                    }
                }
            }
        }
        Map<String, Set<String>> places = new HashMap<>();
        last.values().stream().sorted(Comparator.comparing(Placement::tier)).forEach(placement -> places
                .computeIfAbsent(placement.block().key().hex(), key -> new TreeSet<>())
                .add(placement.tier().name().toLowerCase(Locale.ROOT) + " of " + placement.location()));
        return places;
    }

    /** Where each block served at a moment, by its key. */
    private static Map<String, Set<String>> places(List<History.PrefixBlock> blocks, String namespace, LogState state) {
        Map<String, Set<String>> places = new HashMap<>();
        serving(state, namespace, blocks.stream().map(block -> Bytes.ofHex(block.key())).collect(Collectors.toSet()),
                (key, row) -> places.computeIfAbsent(key.block().hex(), any -> new TreeSet<>())
                        .add(key.tier().name().toLowerCase(Locale.ROOT) + " of " + key.aggregate()));
        return places;
    }

    /** The rows of the blocks that serve at a moment, and that count. */
    private static void serving(LogState state, String namespace, Set<Bytes> blocks, BiConsumer<RowKey.Placement, PlacementRow> row) {
        Bytes digest = Namespaces.digest(namespace);
        for (LogState.Partition partition : state.partitions()) {
            partition.tables().rows(Rows.PLACEMENTS).forEach((key, held) -> {
                NodeRow node = partition.tables().get(Rows.NODES, new RowKey.Aggregate(key.aggregate()));
                boolean counts = Aggregates.isStore(key.aggregate()) || (node != null && NodeRows.isCurrent(node, key.tier(), held));
                if (key.namespace().equals(digest) && blocks.contains(key.block()) && counts && PlacementRows.isServed(held.state())) {
                    row.accept(key, held);
                }
            });
        }
    }

    private static void attempt(ObjectNode json, History.Attempt attempt) {
        json.put("attempt", attempt.attempt()).put("node", attempt.aggregate()).put("namespace", attempt.namespace()).put("trace", attempt.trace());
        ArrayNode steps = json.putArray("steps");
        attempt.steps().forEach(step -> steps.addObject().put("timeMs", step.timeMs()).put("step", step.step()).put("afterMs", step.afterMs())
                .put("waitedFor", step.waitedFor()).put("detail", step.detail()));
        ArrayNode blocks = json.putArray("blocks");
        attempt.blocks().stream().limit(BLOCKS).forEach(block -> blocks.addObject().put("index", block.index()).put("key", block.key())
                .put("found", block.found()).put("became", block.became()).put("why", block.why()).put("broughtBy", block.broughtBy()));
    }
}
