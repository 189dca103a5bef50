/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.ConfigKey;
import org.apache.kafka.common.config.ConfigException;
import org.jspecify.annotations.Nullable;

/** Values of declared options, parsed and checked; an option that was not given has its default. Immutable. */
public final class OptionValues {
    private final Options options;
    private final Map<String, Object> given;
    private final Map<String, @Nullable Object> values = new HashMap<>();

    private OptionValues(Options options, Map<String, Object> given) {
        this.options = options;
        this.given = Map.copyOf(given);
        List<String> wrong = new ArrayList<>();
        for (String name : new TreeMap<>(given).keySet()) {
            if (!options.names().contains(name)) {
                wrong.add(Options.flag(name) + " is not an option");
            }
        }
        for (ConfigKey key : options.keys()) {
            try {
                values.put(key.name, value(key, given.get(key.name)));
            } catch (ConfigException e) {
                wrong.add(Options.flag(key.name) + ": " + e.getMessage());
            }
        }
        if (!wrong.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", wrong));
        }
    }

    /**
     * Parses and checks values.
     *
     * @param given by name: texts, or values of the type of the option
     * @throws IllegalArgumentException with every value that cannot be, by its flag
     */
    public static OptionValues parse(Options options, Map<String, ?> given) {
        return new OptionValues(options, new HashMap<>(given));
    }

    /** Why an option cannot have a value, as {@link #parse} says it without the flag; empty when it can. */
    public static Optional<String> problem(ConfigKey key, Object given) {
        try {
            value(key, given);
            return Optional.empty();
        } catch (ConfigException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private static @Nullable Object value(ConfigKey key, @Nullable Object given) {
        if (given == null) {
            if (!key.hasDefault()) {
                throw new ConfigException("is missing");
            }
            return key.defaultValue;
        }
        Object value;
        try {
            value = ConfigDef.parseType(key.name, given instanceof Path path ? path.toString() : given, key.type);
        } catch (ConfigException e) {
            throw new ConfigException("'" + given + "' is not " + switch (key.type) {
                case BOOLEAN -> "true or false";
                case INT, LONG, SHORT -> "a whole number" + (key.validator.toString().isEmpty() ? "" : ", " + key.validator);
                case DOUBLE -> "a number";
                default -> "of type " + key.type;
            });
        }
        key.validator.ensureValid(key.name, value);
        return value;
    }

    /** The same with other values of some options; checked like the others. */
    public OptionValues with(Map<String, ?> changes) {
        Map<String, Object> changed = new HashMap<>(given);
        changed.putAll(changes);
        return new OptionValues(options, changed);
    }

    /** Whether an option was given, or has a default. */
    public boolean has(String name) {
        return find(name) != null;
    }

    /** A text. */
    public String text(String name) {
        return (String) Objects.requireNonNull(find(name), name);
    }

    /** A text that may be absent. */
    public Optional<String> optional(String name) {
        return Optional.ofNullable((String) find(name));
    }

    /** A number. */
    public int number(String name) {
        return (Integer) Objects.requireNonNull(find(name), name);
    }

    /** A switch. */
    public boolean flag(String name) {
        return (Boolean) Objects.requireNonNull(find(name), name);
    }

    /** The values of a list. */
    @SuppressWarnings("unchecked") // the type of the option is LIST
    public List<String> list(String name) {
        return (List<String>) Objects.requireNonNull(find(name), name);
    }

    /** Bytes or blocks. */
    public Size size(String name) {
        return Size.parse(text(name));
    }

    /** A number of bytes. */
    public long bytes(String name) {
        return Bounds.bytes(text(name));
    }

    /** A constant by its name, in any case. */
    public <E extends Enum<E>> E constant(String name, Class<E> type) {
        return Enum.valueOf(type, text(name).toUpperCase(Locale.ROOT));
    }

    /** A path that may be absent. */
    public Optional<Path> findPath(String name) {
        return optional(name).map(OptionValues::path);
    }

    /** A path. */
    public Path requirePath(String name) {
        return path(text(name));
    }

    /** A path as people write it: {@code ~/} is the home directory of the user. */
    public static Path path(String text) {
        try {
            return text.startsWith("~/") ? Path.of(System.getProperty("user.home"), text.substring(2)) : Path.of(text);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("'" + text + "' is not a path: " + e.getReason(), e);
        }
    }

    /** The effective configuration: every option, sorted; a value that is absent is the text {@code none}. */
    public SortedMap<String, String> effective() {
        SortedMap<String, String> all = new TreeMap<>();
        for (ConfigKey key : options.keys()) {
            Object value = find(key.name);
            all.put(key.name, switch (value) {
                case null -> "none";
                case List<?> values when values.isEmpty() -> "none";
                default -> ConfigDef.convertToString(value, key.type);
            });
        }
        return all;
    }

    private @Nullable Object find(String name) {
        if (!values.containsKey(name)) {
            throw new IllegalArgumentException(Options.flag(name) + " is not an option");
        }
        return values.get(name);
    }
}
