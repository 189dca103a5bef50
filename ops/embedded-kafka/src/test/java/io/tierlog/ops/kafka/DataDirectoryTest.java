/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.kafka.EmbeddedKafkaException.UnusableData;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two brokers on one directory would both write its metadata log, so the claim is tested between processes too. */
class DataDirectoryTest {
    @TempDir
    Path directory;

    @Test
    void anotherProcessCannotClaimWhatIsHeldNotEvenAfterARefusalHere() throws Exception {
        try (DataDirectory held = DataDirectory.claim(directory)) {
            assertTrue(Files.exists(held.log().resolve("meta.properties")));
            assertEquals("another broker uses it now", claimInAnotherProcess());
            // A refusal must not loosen the lock: the system drops it when a second channel of the file is closed.
            assertThrows(UnusableData.class, () -> DataDirectory.claim(directory).close());
            assertEquals("another broker uses it now", claimInAnotherProcess());
        }
        assertEquals("claimed", claimInAnotherProcess());
    }

    @Test
    void theSameDirectoryByAnotherNameIsTheSame() throws Exception {
        Path target = Files.createDirectory(directory.resolve("data"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), target);
        try (DataDirectory held = DataDirectory.claim(target)) {
            assertEquals(target.toRealPath().resolve("log"), held.log());
            assertThrows(UnusableData.class, () -> DataDirectory.claim(link).close());
        }
    }

    @Test
    void aLogThatLostItsIdentityIsNotFormattedAgain() throws Exception {
        try (DataDirectory held = DataDirectory.claim(directory)) {
            Files.createDirectory(held.log().resolve("t-0"));
            Files.delete(held.log().resolve("meta.properties"));
        }

        UnusableData refused = assertThrows(UnusableData.class, () -> DataDirectory.claim(directory).close());

        assertTrue(refused.getMessage().contains("lost the file meta.properties"), refused.getMessage());
    }

    @Test
    void aStartThatDiedBeforeFormattingIsCompleted() throws Exception {
        Files.createFile(directory.resolve("tierlog-broker"));

        try (DataDirectory held = DataDirectory.claim(directory)) {
            assertTrue(Files.exists(held.log().resolve("meta.properties")));
        }
    }

    private String claimInAnotherProcess() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Claim.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assertTrue(process.waitFor(30, TimeUnit.SECONDS));
        return said;
    }

    /** Runs in the other process. */
    static final class Claim {
        private Claim() {}

        public static void main(String[] arguments) throws IOException {
            try (DataDirectory claimed = DataDirectory.claim(Path.of(arguments[0]))) {
                System.out.println(Files.exists(claimed.log()) ? "claimed" : "claimed nothing");
            } catch (UnusableData refused) {
                System.out.println(refused.getMessage().replaceFirst(".*: ", ""));
            }
        }
    }
}
