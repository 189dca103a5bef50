/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http.oidc;

import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.PublicKey;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jose4j.jwt.NumericDate;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;

/**
 * Verifies the tokens of an identity provider. Only signatures with a private key are accepted, so a public key is never taken for a secret. Safe for
 * use by several threads.
 *
 * <p>A token that was accepted is remembered by its digest until it expires or the keys change, at most {@value #REMEMBERED} of them: a signature
 * costs a tenth of a millisecond, and a directory answers faster. Clocks may differ by {@value #SKEW_S} s.
 */
public final class OidcTokens implements AutoCloseable {
    private static final int REMEMBERED = 10_000;
    private static final int SKEW_S = 60;
    private static final Set<String> ALGORITHMS = Set.of("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512");
    private static final AlgorithmConstraints SIGNATURES =
            new AlgorithmConstraints(AlgorithmConstraints.ConstraintType.PERMIT, ALGORITHMS.toArray(String[]::new));

    private final OidcRules rules;
    private final OidcKeys keys;
    private final Clock clock;
    private final Map<String, Known> known = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * What a token says.
     *
     * @param subject who its owner is at the provider
     * @param roles of the owner
     * @param namespaces patterns of the namespaces; empty when the rules name no claim for them, and then all
     */
    public record Claims(String subject, Set<String> roles, Optional<List<String>> namespaces) {}

    private record Known(Claims claims, Instant until, int version) {}

    /** @param http makes the client that reads the keys from a URL */
    public OidcTokens(OidcRules rules, HttpClient.Builder http) {
        this(rules, new OidcKeys(rules.keys(), http, OidcKeys.usual()), Clock.systemUTC());
    }

    OidcTokens(OidcRules rules, OidcKeys keys, Clock clock) {
        this.rules = rules;
        this.keys = keys;
        this.clock = clock;
    }

    /** Whether this has the form of a token of a provider: three parts. */
    public static boolean isOne(String token) {
        return token.chars().filter(c -> c == '.').count() == 2;
    }

    /**
     * Verifies a token.
     *
     * @throws OidcRefusedException when it is not accepted
     */
    public Claims verify(String token) throws OidcRefusedException {
        String digest = digest(token);
        OidcKeys.Keys now = keys.now();
        synchronized (known) {
            Known before = known.get(digest);
            if (before != null && before.version == now.version() && clock.instant().isBefore(before.until)) {
                return before.claims;
            }
        }
        Known fresh = verified(token, now);
        synchronized (known) {
            known.put(digest, fresh);
            if (known.size() > REMEMBERED) {
                known.remove(known.keySet().iterator().next());
            }
        }
        return fresh.claims;
    }

    private Known verified(String token, OidcKeys.Keys now) throws OidcRefusedException {
        try {
            JsonWebSignature jws = new JsonWebSignature();
            jws.setAlgorithmConstraints(SIGNATURES);
            jws.setCompactSerialization(token);
            String algorithm = String.valueOf(jws.getAlgorithmHeaderValue());
            if (!ALGORITHMS.contains(algorithm)) {
                throw new OidcRefusedException(
                        "its algorithm is " + algorithm.replaceAll("[^A-Za-z0-9]", "?") + ", and only RS, PS and ES are accepted");
            }
            jws.setKey(key(jws.getKeyIdHeaderValue(), now));
            if (!jws.verifySignature()) {
                throw new OidcRefusedException("its signature is wrong");
            }
            JwtClaims claims = JwtClaims.parse(jws.getPayload());
            Instant until = requireClaims(claims);
            return new Known(new Claims(claims.getSubject(), Set.copyOf(texts(claims, rules.rolesClaim(), " ")),
                    rules.namespacesClaim().isEmpty() ? Optional.empty() : Optional.of(namespaces(claims, rules.namespacesClaim().get()))),
                    until, now.version());
        } catch (JoseException | InvalidJwtException | MalformedClaimException | RuntimeException e) {
            // Also what a parser does not say: any caller can send these bytes.
            throw new OidcRefusedException("it is no signed JWT");
        }
    }

    private PublicKey key(@Nullable String id, OidcKeys.Keys now) throws OidcRefusedException {
        PublicKey key = now.byId().get(OidcKeys.id(id));
        if (key == null && id == null && now.byId().size() == 1) {
            key = now.byId().values().iterator().next();
        }
        if (key == null) {
            keys.missing();
            throw new OidcRefusedException(now.byId().isEmpty() ? "the keys of the identity provider could not be read yet"
                    : "the key that signed it is not one of the identity provider's; a new key is known within some seconds");
        }
        return key;
    }

    private Instant requireClaims(JwtClaims claims) throws OidcRefusedException, MalformedClaimException {
        Instant now = clock.instant();
        if (!rules.issuer().equals(claims.getIssuer())) {
            throw new OidcRefusedException("its issuer is not " + rules.issuer());
        }
        if (!claims.hasAudience() || !claims.getAudience().contains(rules.audience())) {
            throw new OidcRefusedException("its audience is not " + rules.audience());
        }
        NumericDate expires = claims.getExpirationTime();
        if (expires == null) {
            throw new OidcRefusedException("it does not expire (no exp)");
        }
        Instant until = at(expires).plusSeconds(SKEW_S);
        if (!now.isBefore(until)) {
            throw new OidcRefusedException("it has expired at " + at(expires));
        }
        NumericDate from = claims.getNotBefore();
        if (from != null && now.plusSeconds(SKEW_S).isBefore(at(from))) {
            throw new OidcRefusedException("it is not valid before " + at(from));
        }
        if (claims.getSubject() == null || claims.getSubject().isBlank()) {
            throw new OidcRefusedException("it names no subject (no sub)");
        }
        return until;
    }

    private static Instant at(NumericDate date) {
        return Instant.ofEpochSecond(date.getValue());
    }

    private static List<String> namespaces(JwtClaims claims, String name) throws OidcRefusedException {
        List<String> found = texts(claims, name, ",");
        if (found.isEmpty()) {
            throw new OidcRefusedException("it has no claim " + name + ", so its owner sees no namespace");
        }
        return found;
    }

    /** The texts of a claim: a list of texts, or one text that {@code separator} divides. */
    private static List<String> texts(JwtClaims claims, String name, String separator) {
        return switch (claims.getClaimValue(name)) {
            case Collection<?> all -> all.stream().filter(String.class::isInstance).map(String.class::cast).filter(text -> !text.isBlank()).toList();
            case String text -> List.of(text.split(separator)).stream().map(String::strip).filter(one -> !one.isEmpty()).toList();
            case null, default -> List.of();
        };
    }

    private static String digest(String token) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java has no SHA-256, which every Java must have", e);
        }
    }

    @Override
    public void close() {
        keys.close();
    }
}
