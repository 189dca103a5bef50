/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Topics;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A directory in a process of its own, which a benchmark speaks to over its standard input: {@code size} for what it holds, {@code run BLOCKS
 * BATCH PRESENT CLIENTS MS LOOKUP} to ask itself. It ends with its input.
 */
final class DirectoryMain {
    static final String READY = "ready ";
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
            case "size" -> out.println(app.streams().blocks() + " " + app.streams().indexBytes());
            case "run" -> {
                Drive.Cell cell = new Drive.Cell(number(words[1]), number(words[2]), number(words[3]), number(words[4]), number(words[5]));
                Way way = Ways.inProcess(app.questions(), Boolean.parseBoolean(words[6]));
                out.println(new ObjectMapper().writeValueAsString(Drive.run(way, cell)));
            }
            default -> throw new IOException("'" + words[0] + "' is no command");
        }
    }

    private static int number(String word) {
        return Integer.parseInt(word);
    }
}
