/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A record of choices as a text file: a line for each group, and comments. */
final class ChoiceFile {
    private ChoiceFile() {}

    /** Writes a record, with comments above it. */
    static void write(Path file, List<int[]> groups, List<String> comments) throws IOException {
        List<String> lines = new ArrayList<>();
        comments.forEach(comment -> comment.lines().forEach(line -> lines.add("# " + line)));
        groups.forEach(group -> lines.add(IntStream.of(group).mapToObj(Integer::toString).collect(Collectors.joining(" ", "-", ""))));
        Files.write(file, lines);
    }

    /**
     * Reads a record.
     *
     * @throws IOException when the file cannot be read, or is none
     */
    static List<int[]> read(Path file) throws IOException {
        List<int[]> groups = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            if (line.startsWith("-")) {
                groups.add(numbers(line.substring(1).strip(), file));
            } else if (!line.startsWith("#") && !line.isBlank()) {
                throw new IOException(file + " is not a record of choices: " + line);
            }
        }
        return groups;
    }

    private static int[] numbers(String text, Path file) throws IOException {
        try {
            return text.isEmpty() ? new int[0] : List.of(text.split(" ")).stream().mapToInt(Integer::parseInt).toArray();
        } catch (NumberFormatException wrong) {
            throw new IOException(file + " is not a record of choices: " + text, wrong);
        }
    }
}
