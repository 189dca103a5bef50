/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.http.Problem;
import io.tierlog.ops.dashboard.fold.PartitionFold;
import io.tierlog.ops.dashboard.model.NodeRow;
import io.tierlog.ops.dashboard.model.PrefixRow;
import io.tierlog.ops.dashboard.model.RequestRow;
import io.tierlog.ops.dashboard.model.Window;
import io.tierlog.ops.dashboard.model.WriterRow;
import io.tierlog.ops.dashboard.streams.FoldTasks;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.StreamSupport;

/** What each page shows, as JSON. Every answer says to when its numbers are, so that a page can show their age. Safe for use by several threads. */
public final class Pages {
    private static final int REQUESTS = 100;
    private static final int PREFIXES = 40;
    private static final int WRITERS = 100;

    private final FoldTasks tasks;
    private final Supplier<LogPosition> log;
    private final LongSupplier nowMs;
    private final boolean canCall;
    /** The folds that have the windows, the histories and the recent attempts: for a past moment not those that have its state. */
    private final FoldTasks kept;
    private final long atMs;

    /**
     * @param log how the reader of the log is
     * @param nowMs the clock, milliseconds since 1970
     * @param canCall whether the page may call a controller when a person acts
     */
    public Pages(FoldTasks tasks, Supplier<LogPosition> log, LongSupplier nowMs, boolean canCall) {
        this(tasks, tasks, 0, new Shown(log, nowMs, canCall));
    }

    /** What all moments share. */
    private record Shown(Supplier<LogPosition> log, LongSupplier nowMs, boolean canCall) {}

    private Pages(FoldTasks tasks, FoldTasks kept, long atMs, Shown shown) {
        this.tasks = tasks;
        this.kept = kept;
        this.atMs = atMs;
        log = shown.log();
        nowMs = shown.nowMs();
        canCall = shown.canCall();
    }

    /** The pages of a moment whose state is in other folds. */
    Pages at(FoldTasks state, long moment) {
        return new Pages(state, kept, moment, new Shown(() -> new LogPosition(LogPosition.RUNNING, Map.of(), 0, ""), () -> moment, false));
    }

    /**
     * The page of a query.
     *
     * @throws Problem NODE_UNKNOWN when it is of a node that is not there, NOT_READY when that cannot be known yet
     */
    ObjectNode json(PageQuery query) {
        LogPosition position = log.get();
        Map<Integer, PartitionFold.Seen> seen = tasks.read(PartitionFold::seen);
        long lastMs = atMs > 0 ? atMs : seen.values().stream().mapToLong(PartitionFold.Seen::lastMs).max().orElse(0);
        ObjectNode body = switch (query.page()) {
            case "overview" -> overview(query, lastMs);
            case "nodes" -> nodes();
            case "node" -> node(query, position, lastMs);
            case "requests" -> requests(query);
            case "blocks" -> prefixes();
            case "operate" -> operate(query, lastMs);
            case "log" -> log(query, position, lastMs);
            default -> throw new IllegalArgumentException("Invalid page " + query.page());
        };
        long now = nowMs.getAsLong();
        Notice.of(position, lastMs, now).ifPresent(notice -> body.putObject("notice").put("level", notice.level()).put("text", notice.text()));
        return body.put("page", query.page()).put("lastMs", lastMs).put("nowMs", now).put("reader", position.state())
                .put("behind", position.behind()).put("partitions", seen.size()).put("atMs", atMs).put("firstMs", firstMs());
    }

    private ObjectNode overview(PageQuery query, long lastMs) {
        Span span = Span.last(query.minutes(), firstMs(), lastMs);
        List<Window> windows = new ArrayList<>();
        kept.read(fold -> copies(fold, span)).values().forEach(windows::addAll);
        Window total = new Window(0);
        if (atMs > 0) {
            kept.read(fold -> sum(fold, new Span(firstMs(), span.toMs(), 1))).values().forEach(total::add);
        } else {
            kept.read(fold -> copy(fold.total())).values().forEach(total::add);
        }
        List<NodeRow> nodes = new ArrayList<>();
        tasks.read(fold -> List.copyOf(fold.nodes().values())).values().forEach(nodes::addAll);
        Window sum = new Window(0);
        windows.forEach(sum::add);
        ObjectNode body = OverviewPage.json(span, windows, sum, total);
        body.put("minutes", query.minutes());
        body.set("alarms", Alarms.of(sum.counters(), nodes, lastMs));
        body.put("nodesUp", nodes.stream().filter(node -> node.state().equals(NodeRow.UP)).count()).put("nodes", nodes.size());
        body.put("inFlight", tasks.read(fold -> {
            long count = 0;
            for (Object _ : fold.inFlight()) {
                count++;
            }
            return count;
        }).values().stream().mapToLong(Long::longValue).sum());
        return body;
    }

    /** Beginning of the first window that is kept: before it there is nothing to show. */
    private long firstMs() {
        long first = kept.read(PartitionFold::firstMs).values().stream().mapToLong(Long::longValue).min().orElse(0);
        return first == Long.MAX_VALUE ? 0 : first;
    }

    private static Window sum(PartitionFold fold, Span span) {
        Window sum = new Window(0);
        fold.windows(span.fromMs(), span.toMs()).forEach(sum::add);
        return sum;
    }

    private static List<Window> copies(PartitionFold fold, Span span) {
        List<Window> copies = new ArrayList<>();
        fold.windows(span.fromMs(), span.toMs()).forEach(window -> copies.add(copy(window)));
        return copies;
    }

    private static Window copy(Window window) {
        Window copy = new Window(window.atMs());
        copy.add(window);
        return copy;
    }

    private ObjectNode nodes() {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        ArrayNode all = body.putArray("nodes");
        tasks.read(NodePages::nodes).values().stream().flatMap(List::stream)
                .sorted(Comparator.comparing(node -> node.path("node").asText())).forEach(all::add);
        return body;
    }

    private ObjectNode node(PageQuery query, LogPosition position, long lastMs) {
        ObjectNode node = tasks.read(fold -> NodePages.node(fold, query.node())).values().stream().flatMap(Optional::stream).findFirst()
                .orElseThrow(() -> absent(query.node(), position));
        kept.read(fold -> NodePages.past(fold, query.node(), lastMs - query.minutes() * 60_000L, lastMs)).values().stream()
                .flatMap(Optional::stream).findFirst().ifPresent(node::setAll);
        return node;
    }

    /** While the rows are being restored, a node that is not there yet is not unknown. */
    private static Problem absent(String node, LogPosition position) {
        return position.state().equals(LogPosition.RUNNING)
                ? new Problem(Problem.Kind.NODE_UNKNOWN, "the log has no node '" + node + "'", "GET /api/nodes has all")
                : new Problem(Problem.Kind.NOT_READY, "the rows of node '" + node + "' are not restored yet: the reader of the log is "
                        + position.state().toLowerCase(Locale.ROOT), "retry in a moment");
    }

    private ObjectNode requests(PageQuery query) {
        List<RequestRow> rows = new ArrayList<>();
        tasks.read(fold -> NodePages.requests(fold, query.filter(), REQUESTS)).values().forEach(rows::addAll);
        if (atMs > 0) {
            Map<String, RequestRow> known = new HashMap<>();
            kept.read(fold -> StreamSupport.stream(fold.requests().spliterator(), false).toList()).values()
                    .forEach(recent -> recent.forEach(row -> known.put(row.id(), row)));
            rows.replaceAll(row -> row.with(known.get(row.id()), atMs));
        }
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        ArrayNode all = body.putArray("requests");
        rows.stream().sorted(Comparator.comparingLong(RequestRow::submittedMs).reversed()).limit(REQUESTS)
                .forEach(row -> all.add(NodePages.json(row)));
        return body;
    }

    /** The senders that wrote last. Their counts are of all of the log, so a past moment has none. */
    private void writers(ArrayNode json) {
        Map<String, WriterRow> sums = new HashMap<>();
        tasks.read(fold -> StreamSupport.stream(fold.writers().spliterator(), false).toList()).values()
                .forEach(rows -> rows.forEach(row -> sums.merge(row.sender(), row, WriterRow::plus)));
        sums.values().stream().sorted(Comparator.comparingLong(WriterRow::lastMs).reversed().thenComparing(WriterRow::sender)).limit(WRITERS)
                .forEach(row -> json.addObject().put("sender", row.sender()).put("events", row.events()).put("decisions", row.facts())
                        .put("commands", row.commands()).put("type", row.type()).put("lastMs", row.lastMs()));
    }

    /** The prefixes that saved the most bytes, which a past moment does not have, and the namespaces of recent prompts. */
    private ObjectNode prefixes() {
        Map<String, PrefixRow> sums = new HashMap<>();
        kept.read(fold -> StreamSupport.stream(fold.prefixes().spliterator(), false).toList()).values()
                .forEach(rows -> rows.forEach(row -> sums.merge(row.id(), row, PrefixRow::plus)));
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        ArrayNode hot = body.putArray("prefixes");
        sums.values().stream()
                .sorted(Comparator.comparingLong(PrefixRow::savedBytes).thenComparing(row -> row.hits().hits()).reversed()
                        .thenComparing(PrefixRow::id))
                .limit(atMs > 0 ? 0 : PREFIXES).forEach(row -> hot.addObject().put("namespace", row.namespace()).put("root", row.root())
                        .put("prompts", row.hits().requests()).put("hits", row.hits().hits()).put("computed", row.hits().computed())
                        .put("savedBytes", row.savedBytes()).put("lastMs", row.lastMs()));
        ArrayNode names = body.putArray("namespaces");
        sums.values().stream().map(PrefixRow::namespace).distinct().sorted().limit(REQUESTS).forEach(names::add);
        return body;
    }

    private ObjectNode operate(PageQuery query, long lastMs) {
        Span span = Span.last(query.minutes(), firstMs(), lastMs);
        Window sum = new Window(0);
        kept.read(fold -> sum(fold, span)).values().forEach(sum::add);
        ObjectNode body = OperatePage.json(tasks.read(OperatePage.Part::of).values(), sum.counters());
        body.put("minutes", query.minutes()).put("canCall", canCall).putObject("window").put("fromMs", span.fromMs()).put("toMs", span.toMs());
        return body;
    }

    private ObjectNode log(PageQuery query, LogPosition position, long lastMs) {
        Span span = Span.last(query.minutes(), firstMs(), lastMs);
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.put("minutes", query.minutes()).putObject("window").put("fromMs", span.fromMs()).put("toMs", span.toMs());
        ArrayNode partitions = body.putArray("partitionRates");
        Map<Integer, PartitionFold.Seen> seen = tasks.read(PartitionFold::seen);
        kept.read(fold -> {
            Window sum = new Window(0);
            fold.windows(span.fromMs(), span.toMs()).forEach(sum::add);
            return OverviewPage.sums(sum).withObjectProperty("records");
        }).forEach((partition, records) -> partitions.add(records.put("partition", partition).put("seconds", span.seconds())
                .put("lastMs", seen.containsKey(partition) ? seen.get(partition).lastMs() : 0)));
        ObjectNode lag = body.putObject("lag");
        position.lag().forEach(lag::put);
        writers(body.putArray("writers"));
        return body;
    }
}
