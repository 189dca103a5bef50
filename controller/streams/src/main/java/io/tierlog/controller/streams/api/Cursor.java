/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.http.Problem;
import io.tierlog.schemas.Bytes;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/**
 * The end of a page: the parts of the last row's key as one opaque token.
 *
 * @param parts texts without line breaks
 */
record Cursor(List<String> parts) {
    static Cursor of(String... parts) {
        return new Cursor(List.of(parts));
    }

    /**
     * @throws Problem INVALID_REQUEST when the token has another number of parts
     */
    static Cursor parse(String token, int parts) {
        try {
            String text = new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8);
            List<String> found = List.of(text.split("\n", -1));
            if (found.size() == parts) {
                return new Cursor(found);
            }
        } catch (IllegalArgumentException e) {
            throw invalid();
        }
        throw invalid();
    }

    String token() {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(String.join("\n", parts).getBytes(StandardCharsets.UTF_8));
    }

    String text(int part) {
        return parts.get(part);
    }

    long number(int part) {
        try {
            return Long.parseLong(parts.get(part));
        } catch (NumberFormatException e) {
            throw invalid();
        }
    }

    Bytes bytes(int part) {
        try {
            return Bytes.ofHex(parts.get(part));
        } catch (IllegalArgumentException e) {
            throw invalid();
        }
    }

    /** A part that is the digest of a namespace. */
    Bytes digest(int part) {
        Bytes digest = bytes(part);
        if (digest.size() != Namespaces.DIGEST_BYTES) {
            throw invalid();
        }
        return digest;
    }

    private static Problem invalid() {
        return new Problem(Problem.Kind.INVALID_REQUEST, "after is not a token of this list", "use next of the previous page, or leave it out");
    }
}
