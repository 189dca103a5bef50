/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A directory in a process of its own, with commands on its standard input: {@code size} prints its size, {@code run BLOCKS BATCH PRESENT CLIENTS MS
 * LOOKUP} runs the load loop in process. It ends with its input.
 */
final class DirectoryMain {
    static final String READY = "ready ";
    static final String SIZE = "size ";
    private static final Duration RUNNING = Duration.ofMinutes(5);

    private DirectoryMain() {}

    /** Arguments: bootstrap servers, prefix of the topics, state directory. */
    public static void main(String[] arguments) throws Exception {
        KafkaAccess access = KafkaAccess.of(arguments[0]);
        try (DirectoryApp app = DirectoryApp.start(DirectoryConfig.of(access, new Topics(arguments[1]), Path.of(arguments[2])));
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            if (!app.awaitRunning(RUNNING)) {
                throw new IOException("the directory is " + app.streams().state());
            }
            System.out.println(READY + app.httpPort() + " " + app.grpcPort());
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                answer(app, line.split(" ", -1), System.out);
            }
        }
        System.out.println("closed");
    }

    private static void answer(DirectoryApp app, String[] words, PrintStream out) throws Exception {
        switch (words[0]) {
            case "size" -> out.println(SIZE + app.streams().blocks() + " " + app.streams().indexBytes());
            case "run" -> {
                LoadLoop.Cell cell = new LoadLoop.Cell(number(words[1]), number(words[2]), number(words[3]), number(words[4]), number(words[5]));
                QueryPath path = QueryPaths.inProcess(app.questions(), Boolean.parseBoolean(words[6]));
                out.println(new ObjectMapper().writeValueAsString(LoadLoop.run(path, cell)));
            }
            default -> throw new IOException("unknown command '" + words[0] + "'");
        }
    }

    private static int number(String word) {
        return Integer.parseInt(word);
    }
}
