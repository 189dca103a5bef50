/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.ops.bench.report.BenchException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;

/**
 * Where the processor time of a controller goes, by samples of it: the stream thread by layer, other threads by what they do. One thread at a time.
 *
 * <p>Trade-off: some percent of the time that is measured.
 */
final class Profile implements Throughput.Observer {
    private static final String SAMPLE = "jdk.CPUTimeSample";
    private static final String THROTTLE = "500/s";
    private static final String OTHER = "other";

    /** Layers of the stream thread by the class prefix of the innermost frame that has one; codecs and the JDK count as their caller does. */
    private static final Map<String, String> LAYERS = layers();

    private static final Map<String, String> THREADS = threads();

    private final Path directory;
    private final Map<String, Long> streamThread = new TreeMap<>();
    private final Map<String, Long> others = new TreeMap<>();
    private @Nullable Recording recording;
    private int recordings;

    /** @throws BenchException when this JVM takes no samples of processor time */
    Profile(Path directory) {
        this.directory = directory;
        if (FlightRecorder.getFlightRecorder().getEventTypes().stream().noneMatch(type -> type.getName().equals(SAMPLE))) {
            throw BenchException.badInput("this Java takes no samples of processor time, which --jfr needs", "run it on Linux");
        }
    }

    private static Map<String, String> layers() {
        Map<String, String> layers = new LinkedHashMap<>();
        layers.put("org.rocksdb.", "RocksDB");
        layers.put("org.apache.kafka.clients.", "Kafka clients: send, poll, commit");
        layers.put("org.apache.kafka.", "Kafka Streams: forward, changelog, commit");
        layers.put("io.tierlog.controller.streams.EventDecoder", "decode the event");
        layers.put("io.tierlog.controller.streams.RowStore", "rows: encode, decode, keep");
        layers.put("io.tierlog.controller.streams.StoreBytes", "rows: encode, decode, keep");
        layers.put("io.tierlog.controller.streams.TaskRows", "rows: encode, decode, keep");
        layers.put("io.tierlog.controller.streams.", "stamp and encode decisions and placements");
        layers.put("io.tierlog.controller.core.feed.", "stamp and encode decisions and placements");
        layers.put("io.tierlog.controller.core.table.", "rows: encode, decode, keep");
        layers.put("io.tierlog.controller.core.", "decide and evolve");
        return layers;
    }

    private static Map<String, String> threads() {
        Map<String, String> threads = new LinkedHashMap<>();
        threads.put("kafka-producer-network-thread", "producers");
        threads.put("tierlog-", "queues and relay");
        threads.put("kafka-", "admin and coordinator");
        threads.put("main", "benchmark");
        return threads;
    }

    @Override
    public void begin() {
        Recording started = new Recording();
        started.enable(SAMPLE).with("throttle", THROTTLE);
        started.start();
        recording = started;
    }

    @Override
    public void end() {
        Recording ended = recording;
        recording = null;
        if (ended == null) {
            return;
        }
        Path file = directory.resolve("profile-" + ++recordings + ".jfr");
        try (ended) {
            ended.stop();
            ended.dump(file);
            RecordingFile.readAllEvents(file).forEach(this::count);
        } catch (IOException failure) {
            throw BenchException.failed("the profile could not be written: " + failure, "look at the temporary directory").causedBy(failure);
        }
    }

    private void count(RecordedEvent sample) {
        if (!sample.getEventType().getName().equals(SAMPLE) || sample.getThread("eventThread") == null) {
            return;
        }
        String thread = sample.getThread("eventThread").getJavaName();
        if (thread != null && thread.contains("-StreamThread-") && !thread.startsWith("kafka-")) {
            streamThread.merge(layer(sample), 1L, Long::sum);
        } else {
            others.merge(first(THREADS, String.valueOf(thread)), 1L, Long::sum);
        }
    }

    private static String layer(RecordedEvent sample) {
        if (sample.getStackTrace() != null) {
            for (RecordedFrame frame : sample.getStackTrace().getFrames()) {
                String layer = first(LAYERS, frame.getMethod().getType().getName());
                if (!layer.equals(OTHER)) {
                    return layer;
                }
            }
        }
        return OTHER;
    }

    private static String first(Map<String, String> names, String text) {
        return names.entrySet().stream()
                .filter(name -> text.startsWith(name.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(OTHER);
    }

    /** Microseconds of the stream thread for an event, by layer. */
    Map<String, Double> streamThread(double microsPerEvent) {
        return micros(streamThread, microsPerEvent, streamThread);
    }

    /** Microseconds of the other threads for an event; the rest belongs to threads without Java code: the collector's, the compiler's, RocksDB's. */
    Map<String, Double> others(double streamThreadMicros, double jvmMicros) {
        Map<String, Double> micros = micros(others, streamThreadMicros, streamThread);
        double known = micros.values().stream().mapToDouble(Double::doubleValue).sum();
        micros.put("collector, compiler, RocksDB's own", Math.max(0, jvmMicros - streamThreadMicros - known));
        return micros;
    }

    private static Map<String, Double> micros(Map<String, Long> samples, double micros, Map<String, Long> of) {
        long all = Math.max(1, of.values().stream().mapToLong(Long::longValue).sum());
        Map<String, Double> shares = new TreeMap<>();
        samples.forEach((name, count) -> shares.put(name, micros * count / all));
        return shares;
    }
}
