/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import io.grpc.Metadata;
import io.tierlog.schemas.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * A token that is shown: the one that all agents share, or the one for a directory. Compared by digest and in constant time, so that how long it
 * takes says nothing. Immutable.
 */
public final class PeerToken {
    static final Metadata.Key<String> AUTHORIZATION = Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private static final int SHORTEST = 16;
    private static final int LONGEST = 512;
    private static final String BEARER = "Bearer ";

    private final String token;
    private final byte[] digest;

    private PeerToken(String token) {
        this.token = token;
        this.digest = Sha256.of(token);
    }

    /**
     * A token.
     *
     * @throws IllegalArgumentException when it is not 16 to 512 visible ASCII characters
     */
    public static PeerToken of(String token) {
        boolean visible = token.chars().allMatch(c -> c > ' ' && c < 127);
        if (token.length() < SHORTEST || token.length() > LONGEST || !visible) {
            throw new IllegalArgumentException("a token has " + SHORTEST + " to " + LONGEST + " visible ASCII characters");
        }
        return new PeerToken(token);
    }

    /**
     * The token in a file, whitespace around it left out.
     *
     * @throws IllegalArgumentException when the file cannot be read, or holds no token
     */
    public static PeerToken read(Path file) {
        try {
            return of(Files.readString(file).strip());
        } catch (IOException e) {
            throw new IllegalArgumentException("the token file " + file + " cannot be read: " + e.getMessage(), e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the token file " + file + ": " + e.getMessage(), e);
        }
    }

    /** What a call says in its metadata. */
    String bearer() {
        return BEARER + token;
    }

    /** Whether that entry of the metadata, null when there is none, shows this token. */
    boolean isShownBy(@Nullable String authorization) {
        String shown = authorization != null && authorization.startsWith(BEARER) ? authorization.substring(BEARER.length()) : "";
        return MessageDigest.isEqual(digest, Sha256.of(shown));
    }
}
