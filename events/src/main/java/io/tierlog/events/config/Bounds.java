/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.config;

import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.jspecify.annotations.Nullable;

/**
 * Which values an option may have. The text form goes into help and documentation. A value that is refused is a {@link ConfigException} whose
 * message follows the flag and a colon. An absent value is not checked; of a list, every value is. Immutable.
 */
public final class Bounds implements ConfigDef.Validator {
    /** Every value of the type. */
    public static final Bounds NONE = new Bounds("", value -> {});

    /** A text with something in it. */
    public static final Bounds TEXT = form("", text -> {});

    /** A path of the file system. */
    public static final Bounds PATH = form("", OptionValues::path);

    /** A file that is there. */
    public static final Bounds FILE = form("a file that can be read", text -> {
        if (!Files.isRegularFile(OptionValues.path(text)) || !Files.isReadable(OptionValues.path(text))) {
            throw new IllegalArgumentException("'" + text + "' is not a file that can be read");
        }
    });

    /** The address of an HTTP server. */
    public static final Bounds URL = pattern("http://HOST:PORT or https://HOST:PORT",
            Pattern.compile("https?://[^/\\s:]+(:\\d{1,5})?(/\\S*)?|https?://\\[\\S+"));

    /** Kafka brokers. */
    public static final Bounds SERVERS = form("HOST:PORT, several with commas", text -> {
        for (String one : text.split(",", -1)) {
            String port = one.substring(one.lastIndexOf(':') + 1).strip();
            if (one.lastIndexOf(':') < 1 || !port.matches("\\d{1,5}") || Integer.parseInt(port) < 1 || Integer.parseInt(port) > 65_535) {
                throw new IllegalArgumentException("'" + one + "' is not HOST:PORT, for example 127.0.0.1:9092");
            }
        }
    });

    /** Bytes, or blocks. */
    public static final Bounds SIZE = form("bytes or blocks", text -> {
        if (Size.parse(text) instanceof Size.OfShare) {
            throw new IllegalArgumentException("'" + text + "' is a share: give bytes (64GiB) or blocks (4096blocks)");
        }
    });

    /** Bytes alone. */
    public static final Bounds BYTES = form("bytes", Bounds::bytes);

    private static final Pattern CREDENTIALS = Pattern.compile("//[^/\\s']*@");

    private final String text;
    private final Consumer<Object> check;

    private Bounds(String text, Consumer<Object> check) {
        this.text = text;
        this.check = check;
    }

    /** Whole numbers from {@code least} to {@code most}. */
    public static Bounds range(long least, long most) {
        return new Bounds(least + " to " + most, value -> {
            long number = ((Number) value).longValue();
            if (number < least || number > most) {
                throw new IllegalArgumentException(number + " is not between " + least + " and " + most);
            }
        });
    }

    /** Texts that match a pattern. */
    public static Bounds pattern(String text, Pattern pattern) {
        return form(text, value -> {
            if (!pattern.matcher(value).matches()) {
                throw new IllegalArgumentException("'" + value + "' is not " + text);
            }
        });
    }

    /**
     * Texts that a parser takes.
     *
     * @param parser throws an IllegalArgumentException for others
     */
    public static Bounds form(String text, Consumer<String> parser) {
        return new Bounds(text, value -> {
            if (((String) value).isBlank()) {
                throw new IllegalArgumentException("'' is not " + (text.isEmpty() ? "a value: it is empty" : text));
            }
            try {
                parser.accept((String) value);
            } catch (IllegalArgumentException e) {
                String why = String.valueOf(e.getMessage());
                throw new IllegalArgumentException(why.contains((String) value) ? why : "'" + value + "': " + why, e);
            }
        });
    }

    /** The names of the constants, in any case. */
    public static <E extends Enum<E>> Bounds oneOf(Class<E> type) {
        String names = String.join(", ", Arrays.stream(type.getEnumConstants()).map(Enum::name).toList());
        return form(names, value -> {
            if (Arrays.stream(type.getEnumConstants()).noneMatch(constant -> constant.name().equals(value.toUpperCase(Locale.ROOT)))) {
                throw new IllegalArgumentException("'" + value + "' is not one of " + names);
            }
        });
    }

    /** A text for people: what stands before the host of a URL may be a password. */
    public static String shown(String text) {
        return CREDENTIALS.matcher(text).replaceAll("//***@");
    }

    static long bytes(String text) {
        if (Size.parse(text) instanceof Size.OfBytes(long bytes)) {
            return bytes;
        }
        throw new IllegalArgumentException("'" + text + "' is not a number of bytes, for example 16KiB");
    }

    @Override
    public void ensureValid(String name, @Nullable Object value) {
        try {
            switch (value) {
                case null -> {}
                case List<?> values -> values.forEach(check);
                default -> check.accept(value);
            }
        } catch (ConfigException e) {
            throw e;
        } catch (IllegalArgumentException e) {
            throw new ConfigException(shown(String.valueOf(e.getMessage())));
        }
    }

    @Override
    public String toString() {
        return text;
    }
}
