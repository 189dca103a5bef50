/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.audit.stats.HitCounts;
import io.tierlog.ops.audit.stats.Percentiles;
import io.tierlog.ops.dashboard.model.Counters;
import io.tierlog.ops.dashboard.model.Names;
import io.tierlog.ops.dashboard.model.Window;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The overview as JSON, from the windows of all partitions. Without state. */
final class OverviewPage {
    private OverviewPage() {}

    static ObjectNode json(Span span, List<Window> windows, Window sum, Window total) {
        List<Window> points = new ArrayList<>();
        for (int i = 0; i < span.points(); i++) {
            points.add(new Window(span.fromMs() + i * span.stepMs()));
        }
        for (Window window : windows) {
            points.get(span.point(window.atMs())).add(window);
        }
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.putObject("window").put("fromMs", span.fromMs()).put("toMs", span.toMs()).put("stepMs", span.stepMs());
        body.set("series", series(span, points));
        body.set("sum", sums(sum));
        body.set("total", sums(total));
        return body;
    }

    private static ObjectNode series(Span span, List<Window> points) {
        double seconds = span.stepMs() / 1_000.0;
        ObjectNode series = JsonNodeFactory.instance.objectNode();
        put(series, "at", points, w -> w.atMs() / 1_000.0);
        put(series, "device", points, w -> share(w, Names.hits(w.counters()).device()));
        put(series, "host", points, w -> share(w, Names.hits(w.counters()).host()));
        put(series, "disk", points, w -> share(w, Names.hits(w.counters()).disk()));
        put(series, "store", points, w -> share(w, Names.hits(w.counters()).store()));
        put(series, "peer", points, w -> share(w, Names.hits(w.counters()).peer()));
        rates(series, "requests", points, w -> w.counters().get(Names.SUBMITTED) / seconds);
        rates(series, "expired", points, w -> w.counters().get(Names.EXPIRED) / seconds);
        rates(series, "evicted", points, w -> w.counters().sum(Names.EVICTED) / seconds);
        List<Percentiles> ready = points.stream().map(w -> w.ready().percentiles()).toList();
        ArrayNode p50 = series.putArray("p50");
        ArrayNode p99 = series.putArray("p99");
        for (Percentiles each : ready) {
            addOrNull(p50, each.count() > 0, each.p50());
            addOrNull(p99, each.count() > 0, each.p99());
        }
        return series;
    }

    /** Share of the blocks of prompts; not a number where there was no prompt. */
    private static double share(Window window, long blocks) {
        long all = Names.hits(window.counters()).accesses();
        return all == 0 ? Double.NaN : (double) blocks / all;
    }

    private static void put(ObjectNode series, String name, List<Window> points, ToDoubleFunction<Window> value) {
        ArrayNode values = series.putArray(name);
        for (Window point : points) {
            double number = value.applyAsDouble(point);
            addOrNull(values, !Double.isNaN(number), number);
        }
    }

    /** The last point is not over: of a rate it has no value, unless it is the only one. */
    private static void rates(ObjectNode series, String name, List<Window> points, ToDoubleFunction<Window> value) {
        put(series, name, points.subList(0, Math.max(1, points.size() - 1)), value);
        if (points.size() > 1) {
            series.withArrayProperty(name).addNull();
        }
    }

    private static void addOrNull(ArrayNode values, boolean present, double number) {
        if (present) {
            values.add(Math.round(number * 10_000) / 10_000.0);
        } else {
            values.addNull();
        }
    }

    /** The numbers of a stretch, or of all of the log. */
    static ObjectNode sums(Window sum) {
        Counters counters = sum.counters();
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        HitCounts hits = Names.hits(counters);
        json.put("submitted", counters.get(Names.SUBMITTED)).put("answeredAtOnce", counters.get(Names.AT_ONCE))
                .put("waitsExpired", counters.get(Names.EXPIRED)).put("prefilled", hits.requests()).put("hitRatio", hits.ratio());
        json.putObject("blocks").put("device", hits.device()).put("host", hits.host()).put("disk", hits.disk()).put("store", hits.store())
                .put("peer", hits.peer()).put("computed", hits.computed());
        Percentiles ready = sum.ready().percentiles();
        json.putObject("readyMs").put("count", ready.count()).put("p50", ready.p50()).put("p90", ready.p90()).put("p99", ready.p99())
                .put("max", ready.max());
        ArrayNode moved = json.putArray("moved");
        ArrayNode evicted = json.putArray("evicted");
        ObjectNode operations = json.putObject("operations");
        ObjectNode missed = json.putObject("computedBlocks");
        ObjectNode ends = json.putObject("ends");
        counters.forEach((name, count) -> {
            String[] parts = name.split("\\.", -1);
            if (name.startsWith(Names.MOVED)) {
                moved.addObject().put("from", parts[1]).put("to", parts[2]).put("bytes", count);
            } else if (name.startsWith(Names.EVICTED)) {
                evicted.addObject().put("tier", parts[1]).put("reason", parts[2]).put("blocks", count)
                        .put("lastCopies", counters.get(Names.LAST_COPIES + parts[1] + "." + parts[2]));
            } else if (name.startsWith("operations.") && parts.length == 3) {
                operations.withObjectProperty(parts[1]).put(parts[2], count);
            } else if (name.startsWith(Names.MISSED)) {
                missed.put(parts[1], count);
            } else if (name.startsWith(Names.ENDS)) {
                ends.put(parts[1], count);
            }
        });
        json.putObject("records").put("events", counters.get(Names.EVENTS)).put("facts", counters.get(Names.FACTS))
                .put("commands", counters.get(Names.COMMANDS)).put("unreadable", counters.get(Names.UNREADABLE))
                .put("refused", counters.get(Names.REFUSED)).put("skipped", counters.get(Names.SKIPPED));
        json.put("nodesLost", counters.get(Names.LOST_NODES)).put("overdue", counters.get(Names.OVERDUE))
                .put("lastCopies", counters.sum(Names.LAST_COPIES));
        return json;
    }
}
