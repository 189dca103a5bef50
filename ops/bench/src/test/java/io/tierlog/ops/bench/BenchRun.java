/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.ops.bench.broker.TemporaryDirectory;
import io.tierlog.ops.bench.report.BenchException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** Runs {@code bench} like the launcher and keeps its output; one for each test. */
final class BenchRun {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

    /** Runs one command line; returns its exit code, 1 when it threw. */
    int run(String... arguments) {
        failure.set(null);
        CommandLine line = new CommandLine(new BenchCommand());
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        line.setExecutionExceptionHandler((failed, _, _) -> {
            failure.set(failed);
            return 1;
        });
        return line.execute(arguments);
    }

    String out() {
        return out.toString();
    }

    String err() {
        return err.toString();
    }

    /** All output, for the message of a failed assertion. */
    String everything() {
        return failure.get() + "\n" + err + "\n" + out;
    }

    /** The report of a successful run. */
    JsonNode json(int exitCode) throws IOException {
        assertEquals(0, exitCode, this::everything);
        return new ObjectMapper().readTree(out());
    }

    /** The refusal of the last command. */
    BenchException refusal() {
        BenchException refused = assertInstanceOf(BenchException.class, failure.get());
        assertTrue(refused.isBadInput());
        return refused;
    }

    /** What benchmarks of this process have left where they create files. */
    static Set<Path> leftovers() throws IOException {
        Set<Path> found = new TreeSet<>();
        for (Path place : List.of(Path.of(System.getProperty("java.io.tmpdir")), Path.of("/dev/shm"))) {
            if (Files.isDirectory(place)) {
                try (Stream<Path> files = Files.list(place)) {
                    files.filter(file -> file.getFileName().toString().startsWith(TemporaryDirectory.PREFIX)).forEach(found::add);
                }
            }
        }
        return found;
    }
}
