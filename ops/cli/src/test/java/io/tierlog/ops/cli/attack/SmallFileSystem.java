/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.attack;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file system of a few megabytes in memory, mounted for one test; needs root on Linux, else the test is not run. */
final class SmallFileSystem implements AutoCloseable {
    private final Path mounted;
    private boolean covered;

    SmallFileSystem(Path directory, int megabytes) throws IOException {
        mounted = Files.createDirectories(directory);
        assumeTrue(run("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m", "tierlog-attack", mounted.toString()), "no right to mount");
    }

    private static boolean run(String... command) throws IOException {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Takes all its space. */
    void fill() {
        try (OutputStream filler = Files.newOutputStream(mounted.resolve("filler"))) {
            byte[] some = new byte[4_096];
            while (true) {
                filler.write(some);
            }
        } catch (IOException e) {
            // it is full
        }
    }

    /** Gives that space back. */
    void drain() throws IOException {
        Files.deleteIfExists(mounted.resolve("filler"));
    }

    /** Files that are open can be written on, all others only be read, as on a disk with errors. */
    void readOnly() throws IOException {
        covered = run("mount", "--bind", mounted.toString(), mounted.toString())
                && run("mount", "-o", "remount,bind,ro", mounted.toString());
        assumeTrue(covered, "no right to mount");
    }

    /** Ends {@link #readOnly}. */
    void writable() throws IOException {
        if (covered) {
            run("umount", "-l", mounted.toString());
            covered = false;
        }
    }

    @Override
    public void close() throws IOException {
        writable();
        run("umount", "-l", mounted.toString());
    }
}
