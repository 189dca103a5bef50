/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tokens that are limited to namespaces: which APIs accept them, and what they may see. */
class TokensTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private static String digest(String token) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    }

    private Path file(String line) throws Exception {
        return Files.writeString(directory.resolve("tokens"), "operator all sha256:" + digest("a") + "\n" + line + "\n");
    }

    @Test
    void aLimitedTokenIsAcceptedOnlyWhereItsScopeIsRespected() throws Exception {
        Path file = file("operator t1 sha256:" + digest("t") + "  namespaces=t1/*, shared/model one");
        Caller limited = Tokens.scoped(Optional.of(file)).admit("Bearer t", Caller.Role.READER);
        assertEquals("t1", limited.name());
        assertTrue(limited.scope().isLimited());
        Problem refused = assertThrows(Problem.class, () -> Tokens.of(Optional.of(file)).admit("Bearer t", Caller.Role.READER));
        assertEquals(Problem.Kind.FORBIDDEN, refused.kind());
        assertFalse(Tokens.of(Optional.of(file)).admit("Bearer a", Caller.Role.OPERATOR).scope().isLimited());
        assertFalse(Tokens.scoped(Optional.empty()).admit(null, Caller.Role.OPERATOR).scope().isLimited());
    }

    @Test
    void aPatternStandsForTheWholeNamespace() {
        Scope scope = Scope.of("t1/*, shared/model one,a*b");
        for (String inside : List.of("t1/", "t1/x\ny", "shared/model one", "ab", "a.b", "aXXb")) {
            assertTrue(scope.includes(inside), inside);
        }
        for (String outside : List.of("t1", "t2/t1/", " t1/x", "shared/model", "shared/model one ", "abc", "")) {
            assertFalse(scope.includes(outside), outside);
        }
        // Characters with a meaning in regular expressions match themselves.
        assertFalse(Scope.of("a.c").includes("abc"));
        assertTrue(Scope.of("a\\E.*").includes("a\\E.x"));
        assertTrue(Scope.ALL.includes("anything"));
    }

    @Test
    void aLineWithoutAPatternIsRefused() throws Exception {
        for (String patterns : List.of("namespaces=", "namespaces=a,,b", "namespaces=a,", "names=a", "namespaces=" + "a,".repeat(64) + "a")) {
            Path file = file("reader t sha256:" + digest("t") + " " + patterns);
            assertThrows(ServerException.TokensUnusable.class, () -> Tokens.scoped(Optional.of(file)), patterns);
        }
    }
}
