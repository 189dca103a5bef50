/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Set;
import org.rocksdb.RocksDB;
import org.slf4j.LoggerFactory;

/**
 * Loads what a part with tables needs a second later, while its command line is read: the JVM's MBean server and RocksDB's native library, some
 * 0.2 s each. What fails here fails again, and is reported, where it is needed. Static and without state.
 */
final class Preload {
    private static final Set<String> COMMANDS = Set.of("controller", "dashboard", "demo", "directory");

    private Preload() {}

    /** Begins, on a thread of its own, when the command needs it. */
    static void begin(List<String> arguments) {
        if (!arguments.isEmpty() && COMMANDS.contains(arguments.getFirst())) {
            Thread.ofPlatform().daemon().name("tierlog-preload").start(Preload::load);
        }
    }

    private static void load() {
        try {
            ManagementFactory.getPlatformMBeanServer();
            RocksDB.loadLibrary();
        } catch (RuntimeException | LinkageError e) {
            LoggerFactory.getLogger(Preload.class).debug("not loaded ahead", e);
        }
    }
}
