/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.events.Causes;
import io.tierlog.ops.cli.command.CliError;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Set;
import org.rocksdb.RocksDB;

/**
 * Loads what a part with tables needs a second later, while its command line is read: the JVM's MBean server and RocksDB's native library, some
 * 0.2 s each. Static and without state.
 */
final class Preload {
    private static final Set<String> COMMANDS = Set.of("controller", "dashboard", "demo", "directory");
    private static final Set<String> NO_START = Set.of("-h", "--help", "-V", "--version");

    private Preload() {}

    /** Begins, on a thread of its own, when the command starts such a part. */
    static void begin(List<String> arguments) {
        if (!arguments.isEmpty() && COMMANDS.contains(arguments.getFirst()) && arguments.stream().noneMatch(NO_START::contains)) {
            Thread.ofPlatform().daemon().name("tierlog-preload").start(Preload::load);
        }
    }

    private static void load() {
        ManagementFactory.getPlatformMBeanServer();
        try {
            RocksDB.loadLibrary();
        } catch (RuntimeException | LinkageError e) {
            // RocksDB takes the library for one that is still being loaded, and a thread that needs it would wait for ever.
            System.err.println("error: RocksDB's library cannot be loaded: " + Causes.of(e));
            System.err.println("hint: it needs glibc, libstdc++, and a directory for temporary files (-Djava.io.tmpdir) that may hold programs");
            Runtime.getRuntime().halt(CliError.FAILURE);
        }
    }
}
