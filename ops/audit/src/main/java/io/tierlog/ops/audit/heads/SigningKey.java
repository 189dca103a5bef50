/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.List;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/** The private key of the part that signs heads. Immutable, safe for use by several threads. */
public final class SigningKey {
    private static final String LABEL = "PRIVATE KEY";
    private static final byte[] TRIAL = new byte[32];

    private final PrivateKey key;
    private final String id;

    private SigningKey(PrivateKey key, String id) {
        this.key = key;
        this.id = id;
    }

    /**
     * A new pair as PEM.
     *
     * @param privateKey PKCS#8 without a password; for one process alone
     * @param publicKey SubjectPublicKeyInfo
     * @param id of the public key
     */
    public record Pair(String privateKey, String publicKey, String id) {
        /** Without the private key. */
        @Override
        public String toString() {
            return "key " + id;
        }
    }

    /** Makes a pair. */
    public static Pair create() {
        try {
            KeyPair pair = KeyPairGenerator.getInstance(HeadKeys.ALGORITHM).generateKeyPair();
            byte[] publicKey = pair.getPublic().getEncoded();
            return new Pair(PemText.of(LABEL, pair.getPrivate().getEncoded()), PemText.of(HeadKeys.LABEL, publicKey), HeadKeys.id(publicKey));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java has no Ed25519", e);
        }
    }

    /**
     * Reads the file of a private key.
     *
     * @param known its public key is one of these
     * @throws IllegalArgumentException when it cannot be read or used; the message says what to do
     */
    public static SigningKey read(Path file, HeadKeys known) {
        try {
            PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
            if (view != null && view.readAttributes().permissions().contains(PosixFilePermission.OTHERS_READ)) {
                throw new IllegalArgumentException("every user of this machine can read the private key in " + file + "; run: chmod o-rwx " + file);
            }
        } catch (IOException e) {
            throw new IllegalArgumentException(file + " cannot be read: " + e, e);
        }
        List<byte[]> found = PemText.read(file, LABEL);
        if (found.size() != 1) {
            throw new IllegalArgumentException(file + " has " + found.size() + " private keys (BEGIN PRIVATE KEY), not 1; make one with: tierlog keys"
                    + " head");
        }
        try {
            PrivateKey key = KeyFactory.getInstance(HeadKeys.ALGORITHM).generatePrivate(new PKCS8EncodedKeySpec(found.getFirst()));
            return known.ids().stream().map(id -> new SigningKey(key, id)).filter(one -> one.isOf(known)).findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("none of the public keys of --head-keys is that of the private key in " + file
                            + "; put its public key at the end of that file, and give all auditors the same one"));
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("the private key in " + file + " is not one of Ed25519; make one with: tierlog keys head", e);
        }
    }

    private boolean isOf(HeadKeys known) {
        Headers trial = new RecordHeaders();
        sign(TRIAL, trial);
        return known.signer(TRIAL, trial).refused().isEmpty();
    }

    /** Id of the public key. */
    public String id() {
        return id;
    }

    /** Signs the value of a record, and puts the signature into its headers. */
    void sign(byte[] value, Headers headers) {
        try {
            headers.remove(HeadKeys.HEADER).add(HeadKeys.HEADER, HeadKeys.header(HeadKeys.sign(key, value), id));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a head cannot be signed", e);
        }
    }
}
