/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import io.tierlog.schemas.Sha256;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.spec.X509EncodedKeySpec;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * The public keys that may have signed heads, from a PEM file, the oldest first. Immutable, safe for use by several threads.
 *
 * <p>The id of a key is made of the key: the first 16 hexadecimal digits of the SHA-256 of what its PEM block holds (SubjectPublicKeyInfo, RFC 8410).
 * A signature (Ed25519, RFC 8032) is over a fixed text and the exact bytes of the record's value; the header holds its 64 bytes and then the id.
 */
public final class HeadKeys {
    /** Name of the header of a signature. */
    static final String HEADER = "tierlog.signature";

    static final String ALGORITHM = "Ed25519";
    static final String LABEL = "PUBLIC KEY";

    /** A signature over something else is none of a head. */
    private static final byte[] PURPOSE = "tierlog head\n".getBytes(StandardCharsets.US_ASCII);

    private static final int SIGNATURE_BYTES = 64;
    private static final int ID_DIGITS = 16;
    private static final int MOST_KEYS = 64;

    private final Map<String, PublicKey> byId;

    private HeadKeys(Map<String, PublicKey> byId) {
        this.byId = byId;
    }

    /**
     * Reads a file.
     *
     * @throws IllegalArgumentException when it cannot be read or used; the message says what to do
     */
    public static HeadKeys read(Path file) {
        Map<String, PublicKey> byId = new LinkedHashMap<>();
        for (byte[] der : PemText.read(file, LABEL)) {
            try {
                byId.put(id(der), KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(der)));
            } catch (GeneralSecurityException e) {
                throw new IllegalArgumentException("a public key in " + file + " is not one of Ed25519; make keys with: tierlog keys head", e);
            }
        }
        if (byId.isEmpty()) {
            throw new IllegalArgumentException(file + " has no public key (BEGIN PUBLIC KEY); make keys with: tierlog keys head");
        }
        if (byId.size() > MOST_KEYS) {
            throw new IllegalArgumentException(file + " has " + byId.size() + " keys, at most " + MOST_KEYS + " are taken; remove the oldest");
        }
        return new HeadKeys(byId);
    }

    /** Id of a key by its SubjectPublicKeyInfo. */
    static String id(byte[] der) {
        MessageDigest digest = Sha256.digest();
        digest.update(der);
        return Sha256.hex(digest).substring(0, ID_DIGITS);
    }

    /** All ids, the oldest key first. */
    public List<String> ids() {
        return List.copyOf(byId.keySet());
    }

    /** Where a key stands in the file, from 0; -1 when it is not there. */
    int place(String id) {
        return ids().indexOf(id);
    }

    /** What a header holds for a signature. */
    static byte[] header(byte[] signature, String id) {
        byte[] idBytes = id.getBytes(StandardCharsets.US_ASCII);
        byte[] both = new byte[signature.length + idBytes.length];
        System.arraycopy(signature, 0, both, 0, signature.length);
        System.arraycopy(idBytes, 0, both, signature.length, idBytes.length);
        return both;
    }

    /**
     * Whether a key of the file has signed a record.
     *
     * @param keyId which one
     * @param refused why none has, for people; then the id is empty
     */
    record Signer(String keyId, Optional<String> refused) {
        private static Signer none(String why) {
            return new Signer("", Optional.of(why));
        }
    }

    /** Which key has signed a value. */
    Signer signer(byte @Nullable [] value, Headers headers) {
        Header header = headers.lastHeader(HEADER);
        byte[] held = header == null ? null : header.value();
        if (value == null || held == null || held.length < SIGNATURE_BYTES) {
            return Signer.none("it has no signature");
        }
        String id = new String(held, SIGNATURE_BYTES, held.length - SIGNATURE_BYTES, StandardCharsets.US_ASCII);
        PublicKey key = byId.get(id);
        if (key == null) {
            return Signer.none("it names the key " + shown(id) + ", which is not among those of --head-keys");
        }
        try {
            Signature signature = Signature.getInstance(ALGORITHM);
            signature.initVerify(key);
            signature.update(PURPOSE);
            signature.update(value);
            if (signature.verify(held, 0, SIGNATURE_BYTES)) {
                return new Signer(id, Optional.empty());
            }
        } catch (SignatureException e) {
            // Bytes that are no signature at all: not the key's either.
            return Signer.none("its signature is not one of Ed25519");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a signature cannot be checked", e);
        }
        return Signer.none("its signature is not that of the key " + id);
    }

    private static String shown(String id) {
        String some = id.substring(0, Math.min(id.length(), ID_DIGITS));
        return some.matches("[0-9a-f]*") ? some : "0x" + HexFormat.of().formatHex(some.getBytes(StandardCharsets.US_ASCII));
    }

    /** Signs as {@link #signer} checks. */
    static byte[] sign(PrivateKey key, byte[] value) throws GeneralSecurityException {
        Signature signature = Signature.getInstance(ALGORITHM);
        signature.initSign(key);
        signature.update(PURPOSE);
        signature.update(value);
        return signature.sign();
    }
}
