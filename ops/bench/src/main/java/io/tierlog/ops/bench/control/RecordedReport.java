/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.ops.bench.report.Report;
import io.tierlog.ops.bench.report.Row;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The part of the report about recorded events. Static and without state.
 *
 * <pre>
 *   recorded: what was replayed, events a second of all applications, how long each was timed, and for each topic of the log records and bytes an
 *     event, transaction markers included; bytes are those that the broker stores, compressed
 *     cold: the controller's first replay in this process, most of which is the compiler's, and the replays before those that count
 *     compression: the same for each that was measured; append_us is what appending the events costs, restore what a start without state does
 *   event_us: microseconds of processor time for an event: stream thread, this process (with the benchmark), the broker's process
 *   request_bytes: written to all topics for a request, and kept for ever of it
 *   profile: microseconds for an event by layer of the stream thread, and by what other threads do
 * </pre>
 */
final class RecordedReport {
    private static final String EVENTS = "events";
    private static final Set<String> KEPT = Set.of(EVENTS, "decisions");

    private RecordedReport() {}

    static void add(Row report, Replay.Result result, @Nullable Profile profile) {
        Replay.Side side = result.first();
        Throughput.Speed tierlog = side.speed();
        RecordedLog.Mix mix = side.log().mix();
        Row eventMicros = micros(tierlog);
        report.with("recorded", new Row()
                        .with("source", result.source())
                        .rounded("events_per_request", mix.total() / (double) mix.requests())
                        .rounded("blocks_per_request", mix.promptBlocks() / (double) mix.requests())
                        .with("events_timed", tierlog.records())
                        .with("same_decisions", result.same())
                        .with("events_per_s", new Row()
                                .rounded("relay", result.relay().perSecond())
                                .rounded("pass_through", result.passThrough().perSecond())
                                .rounded("same_topics_no_work", result.idle().perSecond())
                                .rounded("tierlog", tierlog.perSecond()))
                        .with("seconds", new Row()
                                .rounded("relay", result.relay().seconds())
                                .rounded("pass_through", result.passThrough().seconds())
                                .rounded("same_topics_no_work", result.idle().seconds())
                                .rounded("tierlog", tierlog.seconds()))
                        .with("event_us_beside", new Row()
                                .with("pass_through", micros(result.passThrough()))
                                .with("same_topics_no_work", micros(result.idle())))
                        .with("cold", new Row()
                                .rounded("events_per_s", result.cold().perSecond())
                                .with("event_us", micros(result.cold()))
                                .with("replays_to_warm_up", result.warmUps()))
                        .with("mix", mix(mix))
                        .with("topics", topics(side))
                        .with("compression", compressions(result)))
                .with("event_us", eventMicros)
                .with("request_bytes", requestBytes(side));
        if (profile != null) {
            double streamThread = eventMicros.number("stream_thread");
            report.with("profile", new Row()
                    .with("stream_thread", rounded(profile.streamThread(streamThread)))
                    .with("other_threads", rounded(profile.others(streamThread, eventMicros.number("jvm")))));
        }
    }

    static double ratio(Replay.Result result) {
        double passThrough = result.passThrough().perSecond();
        return passThrough == 0 ? 0 : Row.round(result.first().speed().perSecond() / passThrough);
    }

    private static Row micros(Throughput.Speed speed) {
        CpuTimes cpu = speed.cpu();
        return new Row()
                .rounded("stream_thread", speed.microsPerRecord(cpu.streamThread()))
                .rounded("jvm", speed.microsPerRecord(cpu.jvm()))
                .rounded("broker", speed.microsPerRecord(cpu.broker()));
    }

    private static Row mix(RecordedLog.Mix mix) {
        Row row = new Row();
        mix.events().keySet().stream().sorted().forEach(type -> row.rounded(type, mix.perRequest(type)));
        return row;
    }

    /** Each compression that was measured. */
    private static Row compressions(Replay.Result result) {
        Row all = new Row();
        result.sides().forEach((compression, side) -> {
            long appended = side.events().records();
            all.with(compression, new Row()
                    .rounded("events_per_s", side.speed().perSecond())
                    .with("event_us", micros(side.speed()))
                    .with("append_us", micros(new Throughput.Speed(appended, 0, side.append(), TopicSizes.NOTHING)))
                    .with("request_bytes", requestBytes(side))
                    .rounded("restore_ms", millis(side.restoreNanos(), side.restores()))
                    .rounded("restore_jvm_ms", millis(side.restore().jvm(), side.restores()))
                    .rounded("restore_broker_ms", millis(side.restore().broker(), side.restores())));
        });
        return all;
    }

    private static double millis(long nanos, int times) {
        return nanos / (double) TimeUnit.MILLISECONDS.toNanos(1) / times;
    }

    /** Of an event. The events themselves were there before: theirs is the mean of their topic. */
    private static Row topics(Replay.Side side) {
        Row topics = new Row();
        topics.with(EVENTS, size(side.events(), side.events().records()));
        side.speed().written().byTopic().forEach((topic, size) -> {
            if (!topic.equals(EVENTS)) {
                topics.with(topic.endsWith("-changelog") ? "changelog" : topic, size(size, side.speed().records()));
            }
        });
        return topics;
    }

    private static Row requestBytes(Replay.Side side) {
        Row topics = topics(side);
        return new Row().with("written", bytesPerRequest(side, topics, false)).with("kept", bytesPerRequest(side, topics, true));
    }

    private static Row size(TopicSizes.Size size, long events) {
        return new Row()
                .rounded("records", events == 0 ? 0 : size.records() / (double) events)
                .rounded("bytes", events == 0 ? 0 : size.bytes() / (double) events);
    }

    private static long bytesPerRequest(Replay.Side side, Row topics, boolean keptOnly) {
        double perEvent = topics.values().keySet().stream()
                .filter(topic -> !keptOnly || KEPT.contains(topic))
                .mapToDouble(topic -> topics.row(topic).number("bytes"))
                .sum();
        return Math.round(perEvent * side.speed().records() / Math.max(1, side.requests()));
    }

    private static Row rounded(Map<String, Double> micros) {
        Row row = new Row();
        micros.entrySet().stream()
                .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                .forEach(entry -> row.rounded(entry.getKey(), entry.getValue()));
        return row;
    }

    static void text(Report.Text text, Row report) {
        Row recorded = report.row("recorded");
        text.line("  Recorded events (%s): %.1f for a request of %.1f blocks",
                recorded.value("source"), recorded.number("events_per_request"), recorded.number("blocks_per_request"));
        Row speeds = recorded.row("events_per_s");
        Row seconds = recorded.row("seconds");
        for (String side : List.of("relay", "pass_through", "same_topics_no_work", "tierlog")) {
            text.line("  %-52s %,12.0f events/s, timed for %.1f s", side, speeds.number(side), seconds.number(side));
        }
        Row event = report.row("event_us");
        text.line("  processor time for an event, us: stream thread %.0f, this process %.0f, broker %.0f",
                event.number("stream_thread"), event.number("jvm"), event.number("broker"));
        Row cold = recorded.row("cold");
        Row first = cold.row("event_us");
        text.line("  the first of %d replays to warm up, us: stream thread %.0f, this process %.0f, broker %.0f; %,.0f events/s",
                cold.value("replays_to_warm_up"), first.number("stream_thread"), first.number("jvm"), first.number("broker"),
                cold.number("events_per_s"));
        Row topics = recorded.row("topics");
        topics.values().keySet().forEach(topic -> text.line(
                "  %-52s %12.2f records %8.0f bytes for an event", topic, topics.row(topic).number("records"), topics.row(topic).number("bytes")));
        Row bytes = report.row("request_bytes");
        text.line("  bytes for a request: %,d written, %,d kept for ever%n", bytes.value("written"), bytes.value("kept"));
        compressions(text, recorded.row("compression"));
        if (report.has("profile")) {
            profile(text, "Stream thread, us for an event", report.row("profile").row("stream_thread"));
            profile(text, "Other threads of this process", report.row("profile").row("other_threads"));
        }
    }

    private static void compressions(Report.Text text, Row all) {
        if (all.values().size() < 2) {
            return;
        }
        text.line("  %-12s %9s %24s %24s %16s %26s", "Compression", "events/s", "us an event: stream/jvm/broker", "to append: jvm/broker",
                "bytes: all/kept", "restore, ms: all/jvm/broker");
        all.values().keySet().forEach(compression -> {
            Row one = all.row(compression);
            Row event = one.row("event_us");
            Row append = one.row("append_us");
            Row bytes = one.row("request_bytes");
            text.line("  %-12s %,9.0f %12.0f/%5.0f/%5.0f %18.0f/%5.0f %,9d/%,6d %14.0f/%5.0f/%5.0f", compression, one.number("events_per_s"),
                    event.number("stream_thread"), event.number("jvm"), event.number("broker"), append.number("jvm"), append.number("broker"),
                    bytes.value("written"), bytes.value("kept"), one.number("restore_ms"), one.number("restore_jvm_ms"),
                    one.number("restore_broker_ms"));
        });
        text.line("");
    }

    private static void profile(Report.Text text, String title, Row layers) {
        text.line("  %s", title);
        layers.values().keySet().forEach(layer -> text.line("    %-50s %12.1f", layer, layers.number(layer)));
        text.line("");
    }
}
