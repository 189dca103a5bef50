/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http.oidc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jose4j.jwk.EllipticCurveJsonWebKey;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.OctJwkGenerator;
import org.jose4j.jwk.OctetSequenceJsonWebKey;
import org.jose4j.jwk.RsaJsonWebKey;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.NumericDate;
import org.jose4j.keys.HmacKey;
import org.jose4j.lang.JoseException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tokens that must be refused, and the keys of a provider that change. */
class OidcTokensTest {
    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
    private static final Duration SOON = Duration.ofMillis(20);

    @SuppressWarnings("NullAway.Init")
    private static RsaJsonWebKey rsa;

    @SuppressWarnings("NullAway.Init")
    private static EllipticCurveJsonWebKey curve;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    @SuppressWarnings("NullAway.Init")
    private OidcRules rules;

    @BeforeAll
    static void makeKeys() throws JoseException {
        rsa = ProviderTokens.rsa("rsa");
        curve = ProviderTokens.curve("curve");
    }

    @BeforeEach
    void rules() throws IOException {
        rules = rules(Files.writeString(directory.resolve("keys.json"), ProviderTokens.keySet(rsa, curve)).toString());
    }

    private static OidcRules rules(String keys) {
        return new OidcRules(ProviderTokens.ISSUER, "tierlog", keys, "roles", "tierlog-operator", "tierlog-reader", Optional.empty());
    }

    private OidcTokens tokens(OidcRules with, Clock clock) {
        return new OidcTokens(with, new OidcKeys(with.keys(), HttpClient.newBuilder(), SOON), clock);
    }

    private static Clock at(Instant now) {
        return Clock.fixed(now, ZoneOffset.UTC);
    }

    private static JwtClaims good() {
        return ProviderTokens.claims("ada", NOW.getEpochSecond() + 300);
    }

    private static JwtClaims with(Consumer<JwtClaims> change) {
        JwtClaims claims = good();
        change.accept(claims);
        return claims;
    }

    private static NumericDate second(Instant instant) {
        return NumericDate.fromSeconds(instant.getEpochSecond());
    }

    private static String signed(JwtClaims claims) throws JoseException {
        return ProviderTokens.signed("RS256", "rsa", rsa.getPrivateKey(), claims);
    }

    private void assertRefused(String says, String token) {
        try (OidcTokens tokens = tokens(rules, at(NOW))) {
            String why = String.valueOf(assertThrows(OidcRefusedException.class, () -> tokens.verify(token)).getMessage());
            assertTrue(why.contains(says), why);
        }
    }

    @Test
    void aTokenOfTheProviderIsAccepted() throws Exception {
        try (OidcTokens tokens = tokens(rules, at(NOW))) {
            for (String token : List.of(signed(good()), ProviderTokens.signed("PS256", "rsa", rsa.getPrivateKey(), good()),
                    ProviderTokens.signed("ES256", "curve", curve.getPrivateKey(), good()))) {
                assertTrue(OidcTokens.isOne(token));
                OidcTokens.Claims claims = tokens.verify(token);
                assertEquals("ada", claims.subject());
                assertEquals(Set.of("tierlog-reader"), claims.roles());
                assertEquals(Optional.empty(), claims.namespaces());
            }
            assertEquals(Set.of("a", "b"), tokens.verify(signed(with(claims -> claims.setClaim("roles", "a b")))).roles());
        }
    }

    @Test
    void wrongIssuerAudienceAndTimesAreRefused() throws Exception {
        assertRefused("its issuer is not", signed(with(claims -> claims.setIssuer("https://login.example.org"))));
        assertRefused("its issuer is not", signed(with(claims -> claims.unsetClaim("iss"))));
        assertRefused("its audience is not tierlog", signed(with(claims -> claims.setAudience("tierlog2"))));
        assertRefused("its audience is not tierlog", signed(with(claims -> claims.unsetClaim("aud"))));
        // 60 s of skew are accepted, 61 s are not.
        assertRefused("it has expired", signed(with(claims -> claims.setExpirationTime(second(NOW.minusSeconds(61))))));
        assertRefused("it does not expire", signed(with(claims -> claims.unsetClaim("exp"))));
        assertRefused("it is not valid before", signed(with(claims -> claims.setNotBefore(second(NOW.plusSeconds(61))))));
        assertRefused("it names no subject", signed(with(claims -> claims.unsetClaim("sub"))));
    }

    @Test
    void onlySignaturesWithAPrivateKeyOfTheProviderAreAccepted() throws Exception {
        String[] parts = signed(good()).split("\\.");
        assertRefused("its algorithm is none", encoded("{\"alg\":\"none\",\"kid\":\"rsa\"}") + "." + parts[1] + ".");
        assertRefused("its algorithm is none", encoded("{\"alg\":\"none\",\"kid\":\"rsa\"}") + "." + parts[1] + "." + parts[2]);
        // The public key as the secret of an HMAC: the bytes of the key, and its text.
        assertRefused("its algorithm is HS256", ProviderTokens.signed("HS256", "rsa", new HmacKey(rsa.getPublicKey().getEncoded()), good()));
        assertRefused("its algorithm is HS256", ProviderTokens.signed("HS256", "rsa",
                new HmacKey(rsa.toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY).getBytes(StandardCharsets.UTF_8)), good()));
        RsaJsonWebKey strange = ProviderTokens.rsa("strange");
        assertRefused("the key that signed it is not one", ProviderTokens.signed("RS256", "strange", strange.getPrivateKey(), good()));
        assertRefused("its signature is wrong", ProviderTokens.signed("RS256", "rsa", strange.getPrivateKey(), good()));
        // The key of one kind under the id of another.
        assertRefused("it is no signed JWT", ProviderTokens.signed("ES256", "rsa", curve.getPrivateKey(), good()));
        String payload = new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8);
        assertRefused("its signature is wrong", parts[0] + "." + encoded(payload.replace("reader", "operator")) + "." + parts[2]);
        assertRefused("it is no signed JWT", "a.b.c");
        assertRefused("it is no signed JWT", "..");
    }

    private static String encoded(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aSecretAmongTheKeysVerifiesNothing() throws Exception {
        OctetSequenceJsonWebKey secret = OctJwkGenerator.generateJwk(256);
        secret.setKeyId("secret");
        String both = "{\"keys\":[" + rsa.toJson() + "," + secret.toJson(JsonWebKey.OutputControlLevel.INCLUDE_SYMMETRIC) + "]}";
        rules = rules(Files.writeString(directory.resolve("more.json"), both).toString());
        assertRefused("its algorithm is HS256", ProviderTokens.signed("HS256", "secret", secret.getKey(), good()));
        assertRefused("the key that signed it is not one", ProviderTokens.signed("RS256", "secret", rsa.getPrivateKey(), good()));
    }

    @Test
    void withAClaimForNamespacesEachTokenNeedsIt() throws Exception {
        rules = new OidcRules(ProviderTokens.ISSUER, "tierlog", rules.keys(), "roles", "o", "r", Optional.of("spaces"));
        assertRefused("it has no claim spaces", signed(good()));
        assertRefused("it has no claim spaces", signed(with(claims -> claims.setStringListClaim("spaces", List.of()))));
        try (OidcTokens tokens = tokens(rules, at(NOW))) {
            assertEquals(Optional.of(List.of("t1/*", "shared")),
                    tokens.verify(signed(with(claims -> claims.setClaim("spaces", "t1/*, shared")))).namespaces());
            assertEquals(Optional.of(List.of("t2")), tokens.verify(signed(with(claims -> claims.setStringListClaim("spaces", "t2")))).namespaces());
        }
    }

    @Test
    void anAcceptedTokenIsRefusedWhenItExpires() throws Exception {
        AtomicReference<Instant> now = new AtomicReference<>(NOW);
        Clock clock = new Clock() {
            @Override
            public ZoneOffset getZone() {
                return ZoneOffset.UTC;
            }

            @Override
            public Clock withZone(java.time.ZoneId zone) {
                return this;
            }

            @Override
            public Instant instant() {
                return now.get();
            }
        };
        String token = signed(good());
        try (OidcTokens tokens = tokens(rules, clock)) {
            assertEquals("ada", tokens.verify(token).subject());
            now.set(NOW.plusSeconds(361));
            assertThrows(OidcRefusedException.class, () -> tokens.verify(token));
        }
    }

    @Test
    void aNewKeyIsFetchedWhenATokenNamesItAndAnOldOneNoLongerVerifies() throws Exception {
        AtomicReference<String> served = new AtomicReference<>(ProviderTokens.keySet(rsa));
        AtomicInteger asked = new AtomicInteger();
        HttpServer provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.createContext("/keys", exchange -> {
            asked.incrementAndGet();
            byte[] body = served.get().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(body.length == 0 ? 500 : 200, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        provider.start();
        OidcRules remote = rules("http://127.0.0.1:" + provider.getAddress().getPort() + "/keys");
        String old = signed(good());
        String fresh = ProviderTokens.signed("ES256", "curve", curve.getPrivateKey(), good());
        try (OidcTokens tokens = tokens(remote, at(NOW))) {
            assertEquals("ada", tokens.verify(old).subject());
            served.set("");
            assertThrows(OidcRefusedException.class, () -> tokens.verify(fresh));
            await(() -> asked.get() > 1);
            // The provider is out of order: the last keys stay in use.
            assertEquals("ada", tokens.verify(old).subject());
            served.set(ProviderTokens.keySet(curve));
            await(() -> accepts(tokens, fresh));
            assertThrows(OidcRefusedException.class, () -> tokens.verify(old));
        } finally {
            provider.stop(0);
        }
    }

    /** The headers come and the keys do not: the process starts all the same, and reads them once they come. */
    @Test
    void aProviderThatStopsInTheMiddleOfItsKeysHoldsNothingUp() throws Exception {
        AtomicBoolean stalls = new AtomicBoolean(true);
        CountDownLatch end = new CountDownLatch(1);
        byte[] body = ProviderTokens.keySet(rsa).getBytes(StandardCharsets.UTF_8);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        HttpServer provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.setExecutor(threads);
        provider.createContext("/keys", exchange -> {
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body, 0, 1);
            exchange.getResponseBody().flush();
            if (stalls.getAndSet(false)) {
                awaitEnd(end);
            }
            exchange.getResponseBody().write(body, 1, body.length - 1);
            exchange.close();
        });
        provider.start();
        String token = signed(good());
        try (OidcTokens tokens = tokens(rules("http://127.0.0.1:" + provider.getAddress().getPort() + "/keys"), at(NOW))) {
            assertThrows(OidcRefusedException.class, () -> tokens.verify(token));
            await(() -> accepts(tokens, token));
        } finally {
            end.countDown();
            provider.stop(0);
            threads.close();
        }
    }

    private static void awaitEnd(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean accepts(OidcTokens tokens, String token) {
        try {
            return tokens.verify(token).subject().equals("ada");
        } catch (OidcRefusedException e) {
            return false;
        }
    }

    private static void await(java.util.function.BooleanSupplier holds) {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!holds.getAsBoolean()) {
            assertTrue(System.nanoTime() < until, "nothing happened in 30 s");
            LockSupport.parkNanos(5_000_000);
        }
    }
}
