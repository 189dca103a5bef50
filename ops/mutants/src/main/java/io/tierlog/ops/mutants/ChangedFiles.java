/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The files of a working tree that changed since it left another branch, as git has them. Static and without state. */
final class ChangedFiles {
    private ChangedFiles() {}

    /**
     * Tracked files that differ from the last common commit with {@code commit}, committed or not; from the root, with / between their parts.
     *
     * @throws MutantsException when git does not know the commit, or there is no git
     */
    static Set<String> since(Path root, String commit) throws InterruptedException {
        String base = git(root, "merge-base", commit, "HEAD").strip();
        return new TreeSet<>(git(root, "-c", "core.quotePath=false", "diff", "--name-only", "--no-renames", base).lines().toList());
    }

    private static String git(Path root, String... arguments) throws InterruptedException {
        List<String> command = new ArrayList<>(List.of("git", "-C", root.toString()));
        command.addAll(List.of(arguments));
        try {
            Process git = new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (git.waitFor() != 0) {
                throw new MutantsException("git " + String.join(" ", arguments) + ": " + output.strip());
            }
            return output;
        } catch (IOException e) {
            throw new MutantsException("git cannot be run: " + e.getMessage());
        }
    }
}
