/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http.oidc;

import java.security.Key;
import java.util.ArrayList;
import java.util.List;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwk.EcJwkGenerator;
import org.jose4j.jwk.EllipticCurveJsonWebKey;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.RsaJsonWebKey;
import org.jose4j.jwk.RsaJwkGenerator;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.NumericDate;
import org.jose4j.keys.EllipticCurves;
import org.jose4j.lang.JoseException;

/** An identity provider: keys, and tokens that it signs. Static and without state. */
public final class ProviderTokens {
    /** The issuer. */
    public static final String ISSUER = "https://login.example.org/";

    private ProviderTokens() {}

    /** A key pair. */
    public static RsaJsonWebKey rsa(String id) throws JoseException {
        RsaJsonWebKey key = RsaJwkGenerator.generateJwk(2048);
        key.setKeyId(id);
        return key;
    }

    /** A key pair on a curve. */
    public static EllipticCurveJsonWebKey curve(String id) throws JoseException {
        EllipticCurveJsonWebKey key = EcJwkGenerator.generateJwk(EllipticCurves.P256);
        key.setKeyId(id);
        return key;
    }

    /** The public keys as a provider serves them. */
    public static String keySet(JsonWebKey... keys) {
        List<String> all = new ArrayList<>();
        for (JsonWebKey key : keys) {
            all.add(key.toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY));
        }
        return "{\"keys\":[" + String.join(",", all) + "]}";
    }

    /** Claims that are accepted until that second of the epoch. */
    public static JwtClaims claims(String subject, long expiresS) {
        JwtClaims claims = new JwtClaims();
        claims.setIssuer(ISSUER);
        claims.setAudience("other", "tierlog");
        claims.setSubject(subject);
        claims.setExpirationTime(NumericDate.fromSeconds(expiresS));
        claims.setStringListClaim("roles", "tierlog-reader");
        return claims;
    }

    /** A token with any algorithm and key. */
    public static String signed(String algorithm, String keyId, Key key, JwtClaims claims) throws JoseException {
        JsonWebSignature jws = new JsonWebSignature();
        jws.setAlgorithmConstraints(AlgorithmConstraints.NO_CONSTRAINTS);
        jws.setDoKeyValidation(false);
        jws.setAlgorithmHeaderValue(algorithm);
        jws.setKeyIdHeaderValue(keyId);
        jws.setKey(key);
        jws.setPayload(claims.toJson());
        return jws.getCompactSerialization();
    }
}
