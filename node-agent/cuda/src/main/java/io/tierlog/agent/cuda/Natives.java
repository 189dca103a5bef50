/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.cuda;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Loads JCuda's native libraries safely. JCuda writes them from its jar to the temporary directory under a name that any user can guess, and
 * loads whatever lies there already, also what another process is still writing. So while it loads, the temporary directory is a new one that
 * only this user may enter. A java.library.path that has the libraries comes first. Static.
 */
final class Natives {
    private static final String TEMPORARY = "java.io.tmpdir";

    private Natives() {}

    /** Runs what makes JCuda load a library. */
    static synchronized void load(Runnable first) throws IOException {
        Path own = Files.createTempDirectory("tierlog-jcuda");
        String before = System.setProperty(TEMPORARY, own.toString());
        try {
            first.run();
        } finally {
            System.setProperty(TEMPORARY, before == null ? "" : before);
            delete(own);
        }
    }

    /** A loaded library stays mapped when its file is gone. */
    private static void delete(Path directory) throws IOException {
        List<Path> files;
        try (var entries = Files.list(directory)) {
            files = entries.toList();
        }
        for (Path file : files) {
            Files.delete(file);
        }
        Files.delete(directory);
    }
}
