/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.packaging;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The directory of the release, run by its launcher as on another machine. */
@Timeout(480)
class DistributionTest {
    private static final Path DIRECTORY = Path.of(System.getProperty("tierlog.distribution"));

    @TempDir
    Path dir;

    private record Run(int exit, String text) {}

    private Run run(Map<String, String> environment, String... arguments) throws IOException, InterruptedException {
        Path output = dir.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(
                Stream.concat(Stream.of(DIRECTORY.resolve("bin/tierlog").toString()), Stream.of(arguments)).toList());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().putAll(environment);
        Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
        try {
            assertTrue(process.waitFor(220, TimeUnit.SECONDS), () -> "it hangs: " + output);
            return new Run(process.exitValue(), Files.readString(output));
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void itRunsAndCarriesItsDocumentsAndNoTests() throws Exception {
        Run version = run(Map.of(), "--version");
        Run acls = run(Map.of(), "acls", "print");

        assertEquals(0, version.exit(), version::text);
        assertTrue(version.text().contains(System.getProperty("tierlog.version")), version::text);
        assertEquals(0, acls.exit(), acls::text);
        assertTrue(acls.text().contains("tierlog.decisions"), acls::text);
        for (String file : List.of(
                "LICENSE", "SECURITY.md", "docs/install.md", "ops/examples/policy-tiered.yaml", "ops/deploy/helm/tierlog/Chart.yaml")) {
            assertTrue(Files.exists(DIRECTORY.resolve(file)), file);
        }
        try (Stream<Path> jars = Files.list(DIRECTORY.resolve("lib"))) {
            List<String> names = jars.map(jar -> jar.getFileName().toString()).toList();
            assertTrue(names.stream().anyMatch(name -> name.startsWith("rocksdbjni-")), names::toString);
            assertFalse(names.stream().anyMatch(name -> name.contains("junit") || name.contains("helm") || name.endsWith("-tests.jar")),
                    names::toString);
        }
    }

    /** As docs/install.md has it. With AOTMode on, a JVM that cannot use the cache does not start. */
    @Test
    void aTrainingMakesACacheForTheNextStarts() throws Exception {
        Path cache = dir.resolve("tierlog.aot");
        String options = "-XX:TieredStopAtLevel=1 "; // a short run
        Run training = run(Map.of("TIERLOG_JAVA_OPTS", options + "-XX:AOTCacheOutput=" + cache),
                "training", "--data", dir.resolve("training").toString());
        assertEquals(0, training.exit(), training::text);
        Path loaded = dir.resolve("loaded");
        options += "-XX:AOTMode=on -Xlog:aot*=off -Xlog:class+load:file=" + loaded + " -XX:AOTCache=" + cache;
        Run next = run(Map.of("TIERLOG_JAVA_OPTS", options), "acls", "print");
        assertEquals(0, next.exit(), next::text);
        for (String part : List.of("controller.streams.ControllerApp", "controller.directory.DirectoryApp", "agent.app.AgentApp")) {
            String cached = "io.tierlog." + part + " source: shared objects file";
            assertTrue(Files.readString(loaded).contains(cached), () -> "not in the cache: " + part);
        }
    }

    @Test
    void aJavaThatIsTooOldOrMissingIsNamed() throws Exception {
        Path old = Files.createDirectories(dir.resolve("old/bin")).getParent();
        Files.writeString(old.resolve("release"), "JAVA_VERSION=\"21.0.4\"\n");
        Files.copy(Path.of("/bin/true"), old.resolve("bin/java"));

        Run tooOld = run(Map.of("JAVA_HOME", old.toString()), "--version");
        Run missing = run(Map.of("JAVA_HOME", dir.resolve("nothing").toString()), "--version");

        assertEquals(2, tooOld.exit());
        assertTrue(tooOld.text().contains("is Java 21, and Tierlog needs 25") && tooOld.text().contains("hint: "), tooOld::text);
        assertEquals(2, missing.exit());
        assertTrue(missing.text().contains("no Java found"), missing::text);
    }
}
