/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A controller as a child process, with what can be done to one. */
final class ControllerProcess implements AutoCloseable {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final Process process;
    private final int port;

    /** How a child is run. */
    record Settings(String bootstrap, String prefix, Path state, int tickMs, int commitMs, long cacheBytes, CommandDelivery delivery) {
        Settings(TestLog log, Path state, int tickMs) {
            this(
                    log.access.bootstrapServers(),
                    log.topics.prefix(),
                    state,
                    tickMs,
                    StreamsTuning.DEFAULTS.commitIntervalMs(),
                    StreamsTuning.DEFAULTS.recordCacheBytes(),
                    CommandDelivery.DIRECT);
        }
    }

    /** For children that live for seconds: most of their time would be the compiler's. */
    static final String[] SHORT_LIVED = {"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"};

    /** Starts a child and waits until it decides. */
    ControllerProcess(Settings settings, String... jvm) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(jvm));
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
        String logback = System.getProperty("logback.configurationFile");
        if (logback != null) {
            command.add("-Dlogback.configurationFile=" + logback);
        }
        command.addAll(List.of("-cp", System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))));
        command.add(ControllerProcessMain.class.getName());
        command.addAll(List.of(
                settings.bootstrap(),
                settings.prefix(),
                settings.state().toString(),
                String.valueOf(settings.tickMs()),
                String.valueOf(settings.commitMs()),
                String.valueOf(settings.cacheBytes()),
                settings.delivery().name()));
        try {
            process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
            String line = out.readLine();
            while (line != null && !line.startsWith("HTTP ")) {
                // Output of the JVM itself.
                line = out.readLine();
            }
            if (line == null) {
                throw new AssertionError("the child ended with " + process.waitFor() + " before it was running");
            }
            port = Integer.parseInt(line.substring("HTTP ".length()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** The value of one line of its metrics, 0 when it is not there. */
    double metric(String nameAndLabels) {
        return metric(port, nameAndLabels);
    }

    /** The value of one line of the metrics of a controller, 0 when it is not there. */
    static double metric(int port, String nameAndLabels) {
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics")).build();
            String body = CLIENT.send(request, HttpResponse.BodyHandlers.ofString()).body();
            Matcher line = Pattern.compile("^" + Pattern.quote(nameAndLabels) + " (\\S+)$", Pattern.MULTILINE).matcher(body);
            return line.find() ? Double.parseDouble(line.group(1)) : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** kill -9. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    /** Processor time used so far, in seconds. */
    double processorSeconds() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO).toMillis() / 1e3;
    }

    /** Peak resident memory in MiB, 0 where the system does not report it. */
    long peakResidentMiB() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc", String.valueOf(process.pid()), "status"))) {
                if (line.startsWith("VmHWM:")) {
                    return Long.parseLong(line.replaceAll("\\D", "")) / 1_024;
                }
            }
        } catch (IOException e) {
            return 0;
        }
        return 0;
    }

    @Override
    public void close() {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(20, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (IOException e) {
            process.destroyForcibly();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
