/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.config;

import java.util.List;
import org.apache.kafka.common.config.ConfigDef;
import org.jspecify.annotations.Nullable;

/**
 * The options of a program: a {@link ConfigDef} in which every option has a name with dots, a type, a default, bounds, a group, and a
 * sentence of documentation. Flags, environment variables, {@code --help}, the effective configuration and the pages of documentation all come
 * from it. For the thread that declares; not changed after that.
 *
 * <p>The flag of {@code prefetch.wait.ms} is {@code --prefetch-wait-ms}. An option without a default that need not be given has the default null.
 */
public final class Options extends ConfigDef {
    private String group = "";
    private Importance importance = Importance.MEDIUM;
    private int order;

    /** Flag of an option. */
    public static String flag(String name) {
        return "--" + name.replace('.', '-');
    }

    /** Begins a group: the options that follow belong to it. */
    public Options group(String name, Importance weight) {
        group = name;
        importance = weight;
        return this;
    }

    /**
     * Declares an option that must be given.
     *
     * @param label stands for the value in help texts
     */
    public Options required(String name, Bounds bounds, String label, String documentation) {
        define(name, Type.STRING, NO_DEFAULT_VALUE, bounds, Importance.HIGH, documentation, group, ++order, Width.MEDIUM, label);
        return this;
    }

    /**
     * Declares an option.
     *
     * @param otherwise the default; null for none, then the documentation names what holds without
     * @param label stands for the value in help texts; empty for a flag without a value
     */
    public Options option(String name, Type type, @Nullable Object otherwise, Bounds bounds, String label, String documentation) {
        define(name, type, otherwise, bounds, importance, documentation, group, ++order, Width.MEDIUM, label);
        return this;
    }

    /** Declares a text without a default. */
    public Options text(String name, Bounds bounds, String label, String documentation) {
        return option(name, Type.STRING, null, bounds, label, documentation);
    }

    /** Declares a whole number. */
    public Options number(String name, int otherwise, int least, int most, String label, String documentation) {
        return option(name, Type.INT, otherwise, Bounds.range(least, most), label, documentation);
    }

    /** Declares a switch that is off when it is not given. */
    public Options off(String name, String documentation) {
        return option(name, Type.BOOLEAN, false, Bounds.NONE, "", documentation);
    }

    /** Declares a switch that is on when it is not given, and that {@code --no-NAME} turns off. */
    public Options on(String name, String documentation) {
        return option(name, Type.BOOLEAN, true, Bounds.NONE, "", documentation);
    }

    /** Declares a list, whose values are separated by commas; empty when it is not given. */
    public Options list(String name, Bounds bounds, String label, String documentation) {
        return option(name, Type.LIST, List.of(), bounds, label, documentation);
    }

    /** The declarations in their order. */
    public List<ConfigKey> keys() {
        return List.copyOf(configKeys().values());
    }
}
