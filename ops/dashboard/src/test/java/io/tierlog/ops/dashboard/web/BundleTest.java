/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The bundle that is checked in against its sources; Node is not needed. */
class BundleTest {
    private static final Path SOURCES = Path.of(System.getProperty("tierlog.root"), "ops", "dashboard", "src", "main", "web");

    /** As build.mjs does it. */
    @Test
    void theBundleIsOfTheseSources() throws Exception {
        MessageDigest hash = MessageDigest.getInstance("SHA-256");
        for (Path file : sources()) {
            hash.update((file.getFileName() + "\n").getBytes(StandardCharsets.UTF_8));
            hash.update(Files.readString(file).replace("\r\n", "\n").getBytes(StandardCharsets.UTF_8));
        }
        String first = new String(Assets.read("app.js"), StandardCharsets.UTF_8).lines().findFirst().orElse("");
        assertEquals("/* sources sha256:" + HexFormat.of().formatHex(hash.digest()) + " */", first,
                "the bundle is older than its sources: in ops/dashboard/src/main/web run npm ci && node build.mjs, and commit what it writes");
    }

    private static List<Path> sources() throws IOException {
        try (Stream<Path> files = Files.list(SOURCES)) {
            return files.filter(file -> file.getFileName().toString().matches(".*\\.(jsx?|mjs|css|html|json)")).sorted().toList();
        }
    }

    /** The page works without a network, and the policy of its server lets nothing inline through. */
    @Test
    void nothingIsFetchedFromElsewhereAndNothingIsInline() {
        for (String file : List.of("index.html", "app.css")) {
            assertFalse(new String(Assets.read(file), StandardCharsets.UTF_8).contains("//"), file + " names another server");
        }
        String page = new String(Assets.read("index.html"), StandardCharsets.UTF_8);
        assertFalse(page.matches("(?s).*(<style|style=|onload=|<script>).*"), page);
        assertTrue(page.contains("src=\"/app.js\""));
        assertFalse(new String(Assets.read("app.js"), StandardCharsets.UTF_8).contains("dangerouslySetInnerHTML:"), "text of the log is escaped");
    }
}
