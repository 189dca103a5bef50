/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.nio.charset.StandardCharsets;

/**
 * Descriptions of gRPC statuses, at most as long as clients take. A client of gRPC takes 8 KiB of trailers, and sees no reason at all beyond that;
 * what a caller has sent may be much longer, and each byte that is not printable ASCII is sent as three. Static and without state.
 */
public final class StatusText {
    /** Most bytes of a description as it is sent; the other trailers have the rest. */
    static final int MOST_BYTES = 6 << 10;

    private static final String MORE = "...";

    private StatusText() {}

    /** The text, or its beginning when it is too long. */
    public static String within(String text) {
        int bytes = 0;
        int cut = 0;
        for (int at = 0; at < text.length(); at += Character.charCount(text.codePointAt(at))) {
            if (bytes <= MOST_BYTES - MORE.length()) {
                cut = at;
            }
            bytes += sent(text.codePointAt(at));
            if (bytes > MOST_BYTES) {
                return text.substring(0, cut) + MORE;
            }
        }
        return text;
    }

    private static int sent(int character) {
        boolean plain = character >= ' ' && character < '~' && character != '%';
        return plain ? 1 : 3 * Character.toString(character).getBytes(StandardCharsets.UTF_8).length;
    }
}
