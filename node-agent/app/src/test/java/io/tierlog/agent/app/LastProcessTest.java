/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the directory of a disk remembers of the process before. */
class LastProcessTest {
    @TempDir
    private Path directory;

    @Test
    void theNextProcessKnowsTheLast() {
        LastProcess first = new LastProcess(directory, "a");
        assertEquals(Optional.empty(), first.before());
        first.isNow("p1");
        LastProcess second = new LastProcess(directory, "a");
        assertEquals(Optional.of("p1"), second.before());
        second.isNow("p2");
        assertEquals(Optional.of("p2"), new LastProcess(directory, "a").before());
    }

    @Test
    void aDirectoryOfAnotherNodeTellsNothing() {
        new LastProcess(directory, "a").isNow("p1");
        assertEquals(Optional.empty(), new LastProcess(directory, "ab").before());
        assertEquals(Optional.empty(), new LastProcess(directory, "b").before());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a", "a ", "a p1\na p2", "\u0000\u0001"})
    void whatCannotBeUnderstoodTellsNothing(String content) throws IOException {
        Files.writeString(directory.resolve("last-process"), content);
        assertEquals(Optional.empty(), new LastProcess(directory, "a").before());
    }

    @Test
    void aDirectoryThatHasGoneIsNoFault() {
        LastProcess process = new LastProcess(directory.resolve("gone"), "a");
        process.isNow("p1");
        assertEquals(Optional.empty(), process.before());
    }
}
