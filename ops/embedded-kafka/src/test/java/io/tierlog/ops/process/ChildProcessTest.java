/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Small shell programs as children: readiness, questions, the end, and what a failure reports. */
final class ChildProcessTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    private static ChildProcess.Builder shell(String script) {
        return ChildProcess.program("shell", List.of("/bin/sh", "-c", script));
    }

    @Test
    void aReadyChildAnswersQuestionsAndEndsWithItsInput() throws InterruptedException {
        String echo = "echo noise; echo ready 7; while read line; do echo more noise; echo \"got $line\"; done; echo bye";
        List<String> lines = Collections.synchronizedList(new ArrayList<>());
        try (ChildProcess child = shell(echo).input().readyWhen(line -> line.startsWith("ready ")).lines(lines::add).start()) {
            assertEquals("ready 7", child.awaitReady(LONG));
            assertEquals("got one", child.ask("one", line -> line.startsWith("got "), LONG));
            assertEquals("got two", child.ask("two", line -> line.startsWith("got "), LONG));
            assertTrue(child.isAlive());
            child.endInput(LONG);
            assertEquals(0, child.exitCode());
            assertFalse(child.isAlive());
        }
        assertEquals(List.of("noise", "ready 7", "more noise", "got one", "more noise", "got two", "bye"), lines);
    }

    @Test
    void aChildThatEndsEarlyIsReportedWithTheEndOfItsLog() {
        try (ChildProcess child = shell("echo out; echo first >&2; echo the cause >&2; exit 3")
                .log(directory.resolve("shell.log"))
                .readyWhen(line -> line.equals("ready"))
                .start()) {
            ChildProcessException failure = assertThrows(ChildProcessException.class, () -> child.awaitReady(LONG));
            assertEquals("shell did not start: first" + System.lineSeparator() + "the cause", failure.getMessage());
        }
    }

    /** The wait ends once the child has printed its number: by then it runs. */
    @Test
    void aChildIsKilledWhenTheWaitUntilItIsReadyEnds() {
        Thread here = Thread.currentThread();
        List<String> pid = Collections.synchronizedList(new ArrayList<>());
        ChildProcess.Builder silent = shell("echo $$; exec sleep 60").readyWhen(line -> line.equals("ready")).lines(line -> {
            pid.add(line);
            here.interrupt();
        });
        assertThrows(InterruptedException.class, () -> silent.startReady(LONG));
        assertTrue(ProcessHandle.of(Long.parseLong(pid.getFirst())).isEmpty());
    }

    @Test
    void aChildThatDoesNotAnswerInTimeIsReported() {
        try (ChildProcess child = shell("echo hello; read line; exec sleep 60").input().start()) {
            ChildProcessException failure =
                    assertThrows(ChildProcessException.class, () -> child.ask("one", line -> line.startsWith("got "), Duration.ofMillis(200)));
            assertTrue(failure.getMessage().startsWith("shell did not answer 'one': "), failure.getMessage());
        }
    }

    @Test
    void aProgramThatIsMissingIsReported() {
        ChildProcess.Builder absent = ChildProcess.program("absent", List.of(directory.resolve("absent").toString()));
        assertTrue(assertThrows(ChildProcessException.class, absent::start).getMessage().startsWith("cannot start absent: "));
    }

    /** The shell becomes the program that sleeps: a child of the shell would outlive it and keep its output open for the whole minute. */
    @Test
    void aKilledChildHasTheExitCodeOfTheSignal() throws InterruptedException {
        try (ChildProcess child = shell("exec sleep 60").start()) {
            assertFalse(child.endsWithin(Duration.ofMillis(1)));
            child.kill();
            assertEquals(128 + 9, child.exitCode());
        }
    }
}
