/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.schemas.Sha256;
import java.io.IOException;
import java.io.StringReader;
import java.util.Properties;

/** Lines "name=value" that end with their own checksum, so that a file that was cut or altered is noticed. Not thread-safe. */
public final class CheckedText {
    private static final String CHECKSUM = "sha256=";

    private final StringBuilder text = new StringBuilder();

    /** Adds a line; neither part has a line break. */
    public CheckedText line(String name, Object value) {
        text.append(name).append('=').append(value).append('\n');
        return this;
    }

    /** All lines, and the checksum. */
    public String sealed() {
        return text + CHECKSUM + Sha256.hex(text.toString()) + "\n";
    }

    /**
     * The lines of {@link #sealed}.
     *
     * @param file its name, for the error
     * @throws IOException when they are not whole
     */
    public static Properties open(String sealed, String file) throws IOException {
        int end = sealed.lastIndexOf(CHECKSUM);
        if (end < 0 || !sealed.substring(end).strip().equals(CHECKSUM + Sha256.hex(sealed.substring(0, end)))) {
            throw new IOException(file + " is damaged: its checksum is wrong");
        }
        Properties values = new Properties();
        values.load(new StringReader(sealed.substring(0, end)));
        return values;
    }

    /**
     * A number of the lines.
     *
     * @throws NumberFormatException when there is none of that name
     */
    public static long number(Properties values, String name) {
        return Long.parseLong(values.getProperty(name, "no " + name));
    }
}
