/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.http.oidc.OidcRules;
import io.tierlog.controller.http.oidc.ProviderTokens;
import io.tierlog.tls.Tls;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jose4j.jwk.RsaJsonWebKey;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.lang.JoseException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
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

    @Test
    void tokensOfAProviderStandBesideThoseOfTheFile() throws Exception {
        RsaJsonWebKey key = ProviderTokens.rsa("k");
        Path keys = Files.writeString(directory.resolve("keys.json"), ProviderTokens.keySet(key));
        OidcRules oidc = new OidcRules(ProviderTokens.ISSUER, "tierlog", keys.toString(), "roles", "op", "rd", Optional.of("spaces"));
        AccessRules rules = new AccessRules(Optional.of(file("operator t2 sha256:" + digest("t"))), Optional.of(oidc), 0);
        try (Tokens tokens = Tokens.scoped(rules, Tls.NONE); Tokens all = Tokens.of(rules, Tls.NONE)) {
            assertEquals("t2", tokens.admit("Bearer t", Caller.Role.OPERATOR).name());
            Caller reader = tokens.admit(bearer(key, "ada", "rd"), Caller.Role.READER);
            assertEquals("oidc.ada", reader.name());
            assertTrue(reader.scope().includes("t1/m"));
            assertFalse(reader.scope().includes("t2/m"));
            assertKind(Problem.Kind.FORBIDDEN, "reading only", () -> tokens.admit(bearer(key, "ada", "rd"), Caller.Role.OPERATOR));
            assertKind(Problem.Kind.FORBIDDEN, "limited to some namespaces", () -> all.admit(bearer(key, "ada", "rd"), Caller.Role.READER));
            assertKind(Problem.Kind.FORBIDDEN, "neither the role op nor rd", () -> tokens.admit(bearer(key, "ada", "x"), Caller.Role.READER));
            assertKind(Problem.Kind.UNAUTHENTICATED, "not accepted", () -> tokens.admit(bearer(key, "ada", "rd") + "x", Caller.Role.READER));
            assertEquals(2, tokens.refused(Tokens.Refused.FORBIDDEN));
            assertEquals(1, tokens.refused(Tokens.Refused.UNAUTHENTICATED));
            // A subject that the log cannot record has a name of its own, and another subject another one.
            String mail = tokens.admit(bearer(key, "ada@example.org", "op"), Caller.Role.OPERATOR).name();
            assertTrue(mail.matches("oidc\\.ada_example\\.org\\.[0-9a-f]{8}"), mail);
            assertNotEquals(mail, tokens.admit(bearer(key, "ada:example.org", "op"), Caller.Role.OPERATOR).name());
            assertEquals(64, tokens.admit(bearer(key, "x".repeat(300), "op"), Caller.Role.OPERATOR).name().length());
        }
    }

    private static String bearer(RsaJsonWebKey key, String subject, String role) throws JoseException {
        JwtClaims claims = ProviderTokens.claims(subject, System.currentTimeMillis() / 1_000 + 300);
        claims.setStringListClaim("roles", role);
        claims.setClaim("spaces", "t1/*");
        return "Bearer " + ProviderTokens.signed("RS256", "k", key.getPrivateKey(), claims);
    }

    private static void assertKind(Problem.Kind kind, String says, Executable call) {
        Problem problem = assertThrows(Problem.class, call);
        assertEquals(kind, problem.kind());
        assertTrue(problem.detail().contains(says), problem.detail());
    }

    @Test
    void oneCallerMakesSoManyRequestsInASecondAndStopsNoOther() throws Exception {
        Path file = file("reader t1 sha256:" + digest("t"));
        try (Tokens tokens = Tokens.of(new AccessRules(Optional.of(file), Optional.empty(), 5), Tls.NONE)) {
            int admitted = 0;
            Problem refused = null;
            for (int i = 0; i < 50; i++) {
                try {
                    tokens.admit("Bearer t", Caller.Role.READER);
                    admitted++;
                } catch (Problem problem) {
                    refused = problem;
                }
            }
            assertTrue(admitted >= 5 && admitted < 50, "admitted " + admitted);
            assertEquals(Problem.Kind.RATE_LIMITED, Objects.requireNonNull(refused).kind());
            assertEquals(429, refused.kind().status());
            assertEquals(1, refused.retryAfterS());
            assertEquals(50 - admitted, tokens.refused(Tokens.Refused.RATE));
            assertEquals("all", tokens.admit("Bearer a", Caller.Role.READER).name());
        }
    }

    @Test
    void aBucketHoldsASecondAndFillsEvenly() {
        AtomicLong nowNs = new AtomicLong();
        RateLimits limits = new RateLimits(2, nowNs::get);
        assertTrue(limits.admits("a"));
        assertTrue(limits.admits("a"));
        assertFalse(limits.admits("a"));
        nowNs.addAndGet(500_000_000); // half a second: 1 request
        assertTrue(limits.admits("a"));
        assertFalse(limits.admits("a"));
        nowNs.addAndGet(3_600_000_000_000L); // an hour: 2, not 7,200
        assertTrue(limits.admits("a"));
        assertTrue(limits.admits("a"));
        assertFalse(limits.admits("a"));
        // 10,000 callers are remembered: after 10,000 others "a" begins again.
        for (int i = 0; i < 10_000; i++) {
            assertTrue(limits.admits("b" + i));
        }
        assertTrue(limits.admits("a"));
        assertTrue(new RateLimits(0, nowNs::get).admits("a"));
    }
}
