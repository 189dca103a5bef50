/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One Markdown document of the project. Immutable.
 *
 * @param path relative to the root, with slashes
 * @param lines as they stand in the file
 * @param prose the text outside of code blocks
 * @param blocks the code blocks in order
 */
record Document(String path, List<String> lines, String prose, List<Block> blocks) {
    static final Path ROOT = Path.of(System.getProperty("tierlog.root"));

    private static final Pattern LINK = Pattern.compile("(?m)\\[[^\\]]*\\]\\(([^)\\s]+)\\)|^\\[[^\\]]+\\]: (\\S+)$");
    private static final Pattern SPAN = Pattern.compile("`([^`\n]+)`");

    /**
     * A code block.
     *
     * @param language what stands behind the opening fence; empty when nothing does
     * @param lines without the fences
     */
    record Block(String language, List<String> lines) {
        /** The commands: a line with the indented lines after it. Comment lines and empty lines are left out. */
        List<String> commands() {
            List<String> commands = new ArrayList<>();
            for (String line : lines) {
                if (line.startsWith(" ") && !commands.isEmpty()) {
                    commands.add(commands.removeLast() + " " + line.strip());
                } else if (!line.isBlank() && !line.startsWith("#")) {
                    commands.add(line.strip());
                }
            }
            return commands;
        }
    }

    /** What is done with one file. */
    @FunctionalInterface
    interface FileVisit {
        void visit(Path file) throws IOException;
    }

    /** Every file of the source tree: not of build outputs and hidden directories. */
    static void eachFileOfTheTree(FileVisit each) throws IOException {
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                String name = String.valueOf(directory.getFileName());
                boolean ours = directory.equals(ROOT) || !(name.equals("target") || name.startsWith("."));
                return ours ? FileVisitResult.CONTINUE : FileVisitResult.SKIP_SUBTREE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                each.visit(file);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /** README.md, ARCHITECTURE.md and everything under docs, sorted by path. */
    static List<Document> all() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(Stream.of(ROOT.resolve("ARCHITECTURE.md"), ROOT.resolve("README.md")),
                            files.filter(file -> file.toString().endsWith(".md")).sorted())
                    .map(Document::read)
                    .toList();
        }
    }

    static Document read(Path file) {
        List<String> prose = new ArrayList<>();
        List<Block> blocks = new ArrayList<>();
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        boolean inBlock = false;
        for (String line : lines) {
            if (line.startsWith("```")) {
                inBlock = !inBlock;
                if (inBlock) {
                    blocks.add(new Block(line.substring(3).strip(), new ArrayList<>()));
                }
            } else if (inBlock) {
                blocks.getLast().lines().add(line);
            } else {
                prose.add(line);
            }
        }
        String path = ROOT.relativize(file.toAbsolutePath().normalize()).toString().replace('\\', '/');
        return new Document(path, lines, String.join("\n", prose), blocks);
    }

    /** Targets of the links in the prose, of reference definitions too. */
    List<String> links() {
        return LINK.matcher(prose).results().map(found -> found.group(1) == null ? found.group(2) : found.group(1)).toList();
    }

    /** Inline code of the prose. */
    List<String> spans() {
        return SPAN.matcher(prose).results().map(found -> found.group(1)).toList();
    }
}
