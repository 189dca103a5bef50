/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Blocks of PEM (RFC 7468). Static and without state. */
final class PemText {
    private static final int MOST_BYTES = 1 << 16;
    private static final int LINE = 64;

    private PemText() {}

    /** One block, with a line break at its end. */
    static String of(String label, byte[] der) {
        String body = Base64.getMimeEncoder(LINE, new byte[] {'\n'}).encodeToString(der);
        return "-----BEGIN " + label + "-----\n" + body + "\n-----END " + label + "-----\n";
    }

    /**
     * What the blocks of a label hold, in the order of the file; other text is passed over.
     *
     * @throws IllegalArgumentException when the file cannot be read, or is too long, or a block is not Base64
     */
    static List<byte[]> read(Path file, String label) {
        Pattern block = Pattern.compile("-----BEGIN " + label + "-----([A-Za-z0-9+/=\\s]*)-----END " + label + "-----");
        try {
            if (Files.size(file) > MOST_BYTES) {
                throw new IllegalArgumentException(file + " has more than " + MOST_BYTES + " bytes");
            }
            List<byte[]> found = new ArrayList<>();
            Matcher matcher = block.matcher(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
            while (matcher.find()) {
                found.add(Base64.getMimeDecoder().decode(matcher.group(1)));
            }
            return found;
        } catch (IOException e) {
            throw new IllegalArgumentException(file + " cannot be read: " + e, e);
        }
    }
}
