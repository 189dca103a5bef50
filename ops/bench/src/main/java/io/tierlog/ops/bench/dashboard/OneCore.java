/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.dashboard;

import io.tierlog.ops.process.ChildProcess;
import io.tierlog.ops.process.ChildProcessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;

/**
 * How a process gets one core.
 *
 * @param name for people
 * @param program that starts it; empty where there is none
 * @param options of its JVM
 */
record OneCore(String name, List<String> program, List<String> options) {
    private static final String ALLOWED = "Cpus_allowed_list:";

    OneCore {
        program = List.copyOf(program);
        options = List.copyOf(options);
    }

    /** A core by taskset; where that is missing, a JVM that counts one processor, whose threads may then still run on several. */
    static OneCore of(OptionalInt wanted) throws InterruptedException {
        OptionalInt core = wanted.isPresent() ? wanted : last();
        if (core.isPresent() && canPin(core.getAsInt())) {
            return new OneCore("core " + core.getAsInt(), List.of("taskset", "-c", String.valueOf(core.getAsInt())), List.of());
        }
        return new OneCore("NOT BOUND to a core: taskset is missing, the JVM counts one processor", List.of(), List.of("-XX:ActiveProcessorCount=1"));
    }

    private static boolean canPin(int core) throws InterruptedException {
        try (ChildProcess tried = ChildProcess.program("taskset", List.of("taskset", "-c", String.valueOf(core), "true"))
                .log(Path.of("/dev/null")).start()) {
            return tried.exitCode() == 0;
        } catch (ChildProcessException missing) {
            return false;
        }
    }

    private static OptionalInt last() {
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith(ALLOWED))
                    .mapToInt(line -> last(line.substring(ALLOWED.length()).strip())).findFirst();
        } catch (IOException notLinux) {
            return OptionalInt.empty();
        }
    }

    /** The last core of a list such as 0-3,8. */
    static int last(String list) {
        String[] numbers = list.split("[,-]", -1);
        return Integer.parseInt(numbers[numbers.length - 1]);
    }
}
