/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.dashboard;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.dashboard.DashboardApp;
import io.tierlog.ops.dashboard.DashboardConfig;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/** A live page in a process of its own. Each line of input prints the heap in use after a collection. It ends with its input. */
final class DashboardMain {
    static final String READY = "ready ";
    static final String HEAP = "heap ";
    private static final Duration RUNNING = Duration.ofMinutes(5);

    private DashboardMain() {}

    /** Arguments: bootstrap servers, prefix of the topics, state directory. */
    public static void main(String[] arguments) throws Exception {
        DashboardConfig config = DashboardConfig.of(KafkaAccess.of(arguments[0]), new Topics(arguments[1]), Path.of(arguments[2]), 0);
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        try (DashboardApp app = DashboardApp.start(config);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            if (!app.awaitRunning(RUNNING)) {
                throw new IOException("the live page did not get its partitions");
            }
            System.out.println(READY + app.port() + " " + Runtime.getRuntime().availableProcessors());
            while (in.readLine() != null) {
                memory.gc();
                System.out.println(HEAP + memory.getHeapMemoryUsage().getUsed());
            }
        }
    }
}
