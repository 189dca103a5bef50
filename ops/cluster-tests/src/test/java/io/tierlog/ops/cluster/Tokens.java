/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.RsaJsonWebKey;
import org.jose4j.jwk.RsaJwkGenerator;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.lang.JoseException;

/** A provider of OAuth tokens: the key that signs them, and what brokers need to check them. Safe for use by several threads. */
final class Tokens {
    static final String ISSUER = "https://issuer.example";
    static final String AUDIENCE = "kafka";

    private static final float VALID_MINUTES = 13 * 60;
    private static final int KEY_BITS = 2_048;

    private final RsaJsonWebKey key;

    /** With a new key. */
    Tokens() {
        try {
            key = RsaJwkGenerator.generateJwk(KEY_BITS);
        } catch (JoseException e) {
            throw new IllegalStateException(e);
        }
        key.setKeyId("cluster-tests");
    }

    /** The public keys, as a JWKS document. */
    byte[] publicKeys() {
        return new JsonWebKeySet(List.of(key)).toJson().getBytes(StandardCharsets.UTF_8);
    }

    /** A token by which the brokers take its bearer for {@code principal}. */
    String token(String principal) {
        JwtClaims claims = new JwtClaims();
        claims.setIssuer(ISSUER);
        claims.setAudience(AUDIENCE);
        claims.setSubject(principal);
        claims.setIssuedAtToNow();
        claims.setExpirationTimeMinutesInTheFuture(VALID_MINUTES);
        claims.setStringClaim("scope", "kafka");
        JsonWebSignature signed = new JsonWebSignature();
        signed.setPayload(claims.toJson());
        signed.setKey(key.getPrivateKey());
        signed.setKeyIdHeaderValue(key.getKeyId());
        signed.setAlgorithmHeaderValue(AlgorithmIdentifiers.RSA_USING_SHA256);
        try {
            return signed.getCompactSerialization();
        } catch (JoseException e) {
            throw new IllegalStateException(e);
        }
    }
}
