/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.events.Causes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which process spoke for the node before this one, as the directory of the disk tier remembers. The holder of the lock of that directory knows that
 * the process which held it before has ended, so its successor need not wait until the controller has received nothing from it for long enough.
 *
 * <p>A file of one line: node, space, process id. One that cannot be read or written costs that wait and nothing else. For one thread.
 */
final class LastProcess {
    private static final Logger LOG = LoggerFactory.getLogger(LastProcess.class);
    private static final int LONGEST = 1_024;

    private final Path file;
    private final String node;
    private final Optional<String> before;

    /** Reads what {@code directory}, whose lock this process holds, remembers of {@code node}. */
    LastProcess(Path directory, String node) {
        this.file = directory.resolve("last-process");
        this.node = node;
        this.before = read();
    }

    /** The process before this one; empty when it is not recorded. */
    Optional<String> before() {
        return before;
    }

    private Optional<String> read() {
        try {
            if (!Files.exists(file) || Files.size(file) > LONGEST) {
                return Optional.empty();
            }
            String line = new String(Files.readAllBytes(file), StandardCharsets.UTF_8).strip();
            boolean ours = line.startsWith(node + " ") && line.length() > node.length() + 1 && line.indexOf('\n') < 0;
            return ours ? Optional.of(line.substring(node.length() + 1)) : Optional.empty();
        } catch (IOException e) {
            LOG.warn("{} cannot be read, so a killed agent of node {} is waited for: {}", file, node, Causes.of(e));
            return Optional.empty();
        }
    }

    /** From here on {@code processId} speaks for the node. */
    void isNow(String processId) {
        try {
            Path next = file.resolveSibling("last-process.new");
            Files.writeString(next, node + " " + processId + "\n", StandardCharsets.UTF_8);
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            LOG.warn("{} cannot be written, so the next agent of node {} waits for this one if it is killed: {}", file, node, Causes.of(e));
        }
    }
}
