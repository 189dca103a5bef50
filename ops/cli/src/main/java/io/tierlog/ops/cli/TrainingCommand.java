/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.ops.cli.command.CliError;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code tierlog training}: a build records an AOT cache of it. A broker, a controller with its directory, and an agent start as their commands do,
 * all in this process, and engines run some requests. It halts the JVM, which writes the cache then too: to close the parts would take long.
 */
@Command(
        name = "training",
        hidden = true,
        description = "For builds: start parts and run some requests in this process, of which the JVM records an AOT cache.")
final class TrainingCommand implements Callable<Integer> {
    private static final Path NOTHING = Path.of("/dev/null");
    private static final int READY_SECONDS = 120;
    private static final String AT_ANY_PORT = "127.0.0.1:0";

    @Option(names = "--data", paramLabel = "DIR", required = true, description = "A fresh directory for the log and the state; they are left there.")
    Path data;

    @Option(names = "--bench", description = "Then run a short benchmark, for the methods that are hot in a controller.")
    boolean bench;

    @Override
    public Integer call() throws Exception {
        String servers = start("broker", "--port", "0", "--data", data.resolve("broker").toString()).get("bootstrapServers").asText();
        run("topics", "create", "--bootstrap-servers", servers);
        JsonNode controller = start("controller", "--bootstrap-servers", servers, "--state-dir", data.resolve("controller").toString(),
                "--instance-id", "training", "--http-port", "0", "--api-listen", AT_ANY_PORT, "--grpc-listen", AT_ANY_PORT,
                "--directory-listen", AT_ANY_PORT, "--directory-grpc-listen", AT_ANY_PORT);
        String port = start("agent", "--bootstrap-servers", servers, "--node", "n1", "--port", "0", "--host", "512blocks", "--block-tokens", "64",
                "--store", data.resolve("store").toString()).get("port").asText();
        run("engine", "--bootstrap-servers", servers, "--agents", "n1=127.0.0.1:" + port, "--requests", "60", "--device", "256blocks");
        run("nodes", "--api", controller.get("api").asText());
        if (bench) {
            run("bench", "control", "--commands", "direct", "--quick");
        }
        Runtime.getRuntime().halt(0);
        return 0;
    }

    private static int execute(PrintWriter out, List<String> arguments) {
        CommandLine line = new CommandLine(new Main());
        line.setOut(out);
        return Main.run(line, arguments, Map.of(), NOTHING);
    }

    /** Runs a command to its end. */
    private static void run(String... arguments) {
        int code = execute(new PrintWriter(PrintWriter.nullWriter()), List.of(arguments));
        if (code != 0) {
            throw ended(List.of(arguments), code);
        }
    }

    /** Starts a part that runs until the JVM ends, and returns its ready line. */
    private static JsonNode start(String... arguments) throws Exception {
        FirstLine out = new FirstLine();
        List<String> line = Stream.concat(Stream.of(arguments), Stream.of("--format", "json")).toList();
        Thread.ofPlatform().daemon().name("training-" + arguments[0]).start(() -> {
            int code = execute(new PrintWriter(out), line);
            out.ready.completeExceptionally(ended(line, code));
        });
        try {
            return new ObjectMapper().readTree(out.ready.get(READY_SECONDS, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            throw e.getCause() instanceof CliError error ? error : e;
        }
    }

    private static CliError ended(List<String> arguments, int code) {
        return new CliError("tierlog " + String.join(" ", arguments) + " ended with exit code " + code, "what it said is above", CliError.FAILURE);
    }

    /** Completes with the first line that is written. */
    private static final class FirstLine extends StringWriter {
        private final CompletableFuture<String> ready = new CompletableFuture<>();

        @Override
        public void flush() {
            toString().lines().findFirst().ifPresent(ready::complete);
        }
    }
}
