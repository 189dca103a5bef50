/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A controller in a process of its own: BOOTSTRAP PREFIX STATE-DIR TICK-MS COMMIT-MS CACHE-BYTES DELIVERY. Ends when its stdin does. */
public final class ControllerProcessMain {
    private ControllerProcessMain() {}

    /** Starts it, and prints the port of metrics and health once it is running. */
    public static void main(String[] args) throws Exception {
        ControllerConfig config = ControllerConfig.of(new KafkaAccess(args[0], Map.of(), Duration.ofSeconds(30)), Path.of(args[2]))
                .with()
                .topics(new Topics(args[1]))
                .applicationId(args[1] + "-controller")
                .http("127.0.0.1", 0)
                .tickMs(Integer.parseInt(args[3]))
                .commands(CommandDelivery.valueOf(args[6]))
                .streams(StreamsTuning.DEFAULTS
                        .withCommitIntervalMs(Integer.parseInt(args[4]))
                        .withRecordCacheBytes(Long.parseLong(args[5])))
                .build();
        try (ControllerApp app = ControllerApp.start(config)) {
            app.awaitRunning(Duration.ofMinutes(2));
            System.out.println("HTTP " + app.httpPort());
            System.out.flush();
            Thread parent = new Thread(() -> exitWithParent(app), "parent-watch");
            parent.setDaemon(true);
            parent.start();
            if (app.ended().get().isPresent()) {
                System.exit(1);
            }
        }
    }

    private static void exitWithParent(ControllerApp app) {
        try {
            while (System.in.read() >= 0) {
                // No output; only the end counts.
            }
        } catch (IOException e) {
            // As good as the end.
        }
        app.close();
    }
}
