/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** Whether the speed of a command is measured beside a reader that only decodes. */
final class SpeedChoice {
    private static final int ROUNDS = 3;

    @Option(names = "--compare-speed", description = "Read the same records with a bare reader that only decodes them, in turn, and say the ratio.")
    boolean compareSpeed;

    /**
     * Both ways in turn, the best of each: what is left of the machine's noise hits both alike.
     *
     * @param bare reads the records and returns how many they are
     * @param audit does the work of the command and returns its records a second
     * @return for the JSON; empty when it is not wanted
     */
    Map<String, Object> measure(LogChoice.Reading<Long> bare, LogChoice.Reading<Double> audit) throws InterruptedException {
        if (!compareSpeed) {
            return Map.of();
        }
        double bareSpeed = 0;
        double auditSpeed = 0;
        for (int round = 0; round < ROUNDS; round++) {
            long start = System.nanoTime();
            long records = bare.run();
            bareSpeed = Math.max(bareSpeed, records * 1e9 / (System.nanoTime() - start));
            auditSpeed = Math.max(auditSpeed, audit.run());
        }
        Map<String, Object> speed = new LinkedHashMap<>();
        speed.put("bareRecordsPerSecond", Math.round(bareSpeed));
        speed.put("auditRecordsPerSecond", Math.round(auditSpeed));
        speed.put("ratio", Math.round(1_000 * auditSpeed / bareSpeed) / 1_000.0);
        return speed;
    }

    /** Prints what was measured, if anything. */
    static void print(PrintWriter out, Map<String, Object> speed) {
        if (!speed.isEmpty()) {
            out.println("speed       " + speed.get("ratio") + " of a bare reader that only decodes: " + speed.get("auditRecordsPerSecond")
                    + " and " + speed.get("bareRecordsPerSecond") + " records a second");
        }
    }
}
