/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.tidy;

import io.tierlog.ops.cli.tidy.Rule.Finding;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The text files under the root, but not what a build or an editor creates.
 *
 * @param files sorted by path
 */
record SourceTree(List<SourceFile> files) {
    private static final Set<String> NOT_OURS =
            Set.of(".git", "target", ".idea", ".vscode", ".settings", "node_modules", "__pycache__", ".venv");

    /** Larger files are not written by hand. */
    private static final int MAX_BYTES = 1 << 20;

    static SourceTree read(Path root) throws IOException {
        List<SourceFile> files = new ArrayList<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                boolean skip = NOT_OURS.contains(String.valueOf(directory.getFileName())) && !directory.equals(root);
                return skip ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                // In a worktree, .git is a file that names a directory of this machine.
                if (attributes.isRegularFile() && attributes.size() <= MAX_BYTES && !file.endsWith(".git")) {
                    readText(root, file, files);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        files.sort(Comparator.comparing(SourceFile::path));
        return new SourceTree(List.copyOf(files));
    }

    private static void readText(Path root, Path file, List<SourceFile> files) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        try {
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            if (text.indexOf('\0') < 0) {
                files.add(new SourceFile(root.relativize(file).toString().replace('\\', '/'), text));
            }
        } catch (CharacterCodingException binary) {
            return;
        }
    }

    /** What breaks a rule. */
    List<Finding> findings() {
        Stream<Finding> single = files.stream().flatMap(file -> Rule.ALL.stream().flatMap(rule -> rule.findings(file)));
        Stream<Finding> words = files.stream().flatMap(OldWords::findings);
        Stream<Finding> threads = files.stream().flatMap(PlainThreads.RULE::findings);
        return Stream.of(single, words, threads, packagesWithoutInfo()).flatMap(findings -> findings).toList();
    }

    /** A package is described once a module: by its main sources, or by its tests when only they have it. */
    private Stream<Finding> packagesWithoutInfo() {
        Set<String> described = new TreeSet<>();
        Set<String> used = new TreeSet<>();
        for (SourceFile file : files) {
            if (file.isJava() && file.path().contains("/src/")) {
                String directory = file.path().substring(0, file.path().lastIndexOf('/'));
                used.add(directory);
                if (file.fileName().equals("package-info.java")) {
                    described.add(directory);
                }
            }
        }
        return used.stream()
                .filter(directory -> !described.contains(directory)
                        && !described.contains(directory.replaceFirst("/src/test/java/", "/src/main/java/")))
                .map(directory -> new Finding("no package-info", directory, "describe what belongs there, and mark it @NullMarked"));
    }
}
