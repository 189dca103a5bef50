/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A real Apicurio Registry server in a process of its own, with its data in memory, on a port of 127.0.0.1 that the system chose. It makes
 * no connections by itself. Its output goes to a file in its directory.
 */
final class RegistryProcess implements AutoCloseable {
    private static final long START_DEADLINE_S = 180;
    private static final Pattern LISTENING = Pattern.compile("Listening on: http://127\\.0\\.0\\.1:(\\d+)");

    private final Process process;
    private final String baseUrl;

    private RegistryProcess(Process process, String baseUrl) {
        this.process = process;
        this.baseUrl = baseUrl;
    }

    /** Starts a server and waits until it answers. */
    static RegistryProcess start() throws IOException, InterruptedException {
        Path home = Path.of(System.getProperty("registry.server.dir"));
        Path work = Files.createTempDirectory(home, "run-");
        Process process = new ProcessBuilder(command(home, work)).redirectErrorStream(true).start();
        CompletableFuture<String> port = new CompletableFuture<>();
        Thread reader = new Thread(() -> follow(process, work.resolve("server.log"), port), "registry-output");
        reader.setDaemon(true);
        reader.start();
        try {
            return new RegistryProcess(process, "http://127.0.0.1:" + port.get(START_DEADLINE_S, TimeUnit.SECONDS) + "/apis/ccompat/v7");
        } catch (TimeoutException | java.util.concurrent.ExecutionException e) {
            process.destroyForcibly();
            throw new IllegalStateException("the registry server did not start, see " + work.resolve("server.log"), e);
        }
    }

    private static List<String> command(Path home, Path work) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED",
                "-Djava.io.tmpdir=" + work,
                "-Dapicurio.storage.snapshot.location=" + work,
                "-Dapicurio.import.work-dir=" + work,
                "-Dapicurio.datasource.jdbc.initial-size=2",
                "-Dapicurio.datasource.jdbc.min-size=2",
                "-Dquarkus.http.host=127.0.0.1", "-Dquarkus.http.port=0",
                "-Dquarkus.management.host=127.0.0.1", "-Dquarkus.management.port=0",
                "-Dquarkus.http.access-log.enabled=false",
                "-Dquarkus.log.category.\"io.quarkus\".level=INFO",
                "-cp", home.resolve("quarkus-run.jar") + System.getProperty("path.separator") + testClasses(),
                RegistryProcessMain.class.getName());
    }

    private static Path testClasses() {
        try {
            return Path.of(RegistryProcess.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (java.net.URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void follow(Process process, Path log, CompletableFuture<String> port) {
        try (BufferedReader out = process.inputReader(); var copy = Files.newBufferedWriter(log)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                copy.append(line).append('\n').flush();
                Matcher listening = LISTENING.matcher(line);
                if (listening.find()) {
                    port.complete(listening.group(1));
                }
            }
            port.completeExceptionally(new IOException("the process ended"));
        } catch (IOException e) {
            port.completeExceptionally(e);
            throw new UncheckedIOException(e);
        }
    }

    String baseUrl() {
        return baseUrl;
    }

    /** Kills the process and waits until it is gone. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
