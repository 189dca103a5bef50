/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.directory.streams.DirectoryConfig.Endpoints;
import io.tierlog.controller.http.AccessRules;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.Tokens;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The warning at the start about tokens that other instances would refuse. */
class PeerTokensTest {
    @TempDir
    Path dir;

    private Path tokens() throws IOException, NoSuchAlgorithmException {
        return Files.writeString(dir.resolve("tokens"), line("operator", "all") + line("reader", "reads")
                + line("operator", "some").strip() + " namespaces=a/*\n");
    }

    private static String line(String role, String token) throws NoSuchAlgorithmException {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        return role + " " + token + " sha256:" + HexFormat.of().formatHex(digest) + "\n";
    }

    private static String warning(String address, Optional<String> advertised, Optional<Path> tokens, Optional<String> own) {
        Endpoint where = new Endpoint(address, 0);
        Endpoints endpoints = new Endpoints(where, where, advertised, Optional.empty(),
                tokens.map(AccessRules::of).orElse(AccessRules.OPEN), Optional.empty(), true);
        return PeerTokens.warning(endpoints, Tokens.scoped(tokens), own).orElse("");
    }

    /** On loopback a second instance is too unlikely for a warning at each start; a real refusal is logged. */
    @Test
    void callerTokensWithoutAPeerTokenAreWarnedAboutOnReachableAddresses() throws Exception {
        Optional<Path> tokens = Optional.of(tokens());
        String warning = warning("0.0.0.0", Optional.empty(), tokens, Optional.empty());
        assertTrue(warning.contains("--peer-token-file is not"), warning);
        assertEquals(warning, warning("127.0.0.1", Optional.of("host.example"), tokens, Optional.empty()));
        assertEquals("", warning("127.0.0.1", Optional.empty(), tokens, Optional.empty()));
        assertEquals("", warning("0.0.0.0", Optional.empty(), Optional.empty(), Optional.empty()));
    }

    @Test
    void anUnusablePeerTokenIsWarnedAboutEverywhere() throws Exception {
        Optional<Path> tokens = Optional.of(tokens());
        assertEquals("", warning("127.0.0.1", Optional.empty(), tokens, Optional.of("all")));
        for (String wrong : new String[] {"other", "reads", "some", ""}) {
            String warning = warning("127.0.0.1", Optional.empty(), tokens, Optional.of(wrong));
            assertTrue(warning.contains("an operator's token without namespaces="), wrong + ": " + warning);
        }
        assertEquals("", warning("127.0.0.1", Optional.empty(), Optional.empty(), Optional.of("other")));
    }
}
