/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A file with a source on each line; empty lines and those that begin with # say nothing. Confined to one thread. */
public final class SourcesFile {
    private static final Logger LOG = LoggerFactory.getLogger(SourcesFile.class);

    private final Path path;
    private String before = "";

    public SourcesFile(Path path) {
        this.path = path;
    }

    /**
     * Its sources at the start.
     *
     * @throws IllegalArgumentException when the file or a line of it cannot be read
     */
    public List<SourceSpec> read() {
        try {
            String text = Files.readString(path);
            List<SourceSpec> sources = parse(text);
            before = text;
            return sources;
        } catch (IOException e) {
            throw new IllegalArgumentException("--sources: cannot read " + path + ": " + e, e);
        }
    }

    /** Its sources when they have changed since; a file that cannot be read now changes nothing. */
    public Optional<List<SourceSpec>> changed() {
        try {
            String text = Files.readString(path);
            if (text.equals(before)) {
                return Optional.empty();
            }
            before = text;
            return Optional.of(parse(text));
        } catch (IOException | IllegalArgumentException e) {
            LOG.warn("{} is not taken over, the sources stay as they were: {}", path, e.getMessage());
            return Optional.empty();
        }
    }

    private static List<SourceSpec> parse(String text) {
        List<SourceSpec> sources = new ArrayList<>();
        text.lines().map(String::strip).filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .forEach(line -> sources.addAll(SourceSpec.parse(line)));
        return sources;
    }
}
