/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.ConfigKey;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Gives a command the flags of its declared options, and reads their values. Picocli only splits the command line: types and bounds are checked by
 * the declaration, so that a value has the same checks whether it comes from a flag, the environment or the settings file. Without state.
 */
public final class OptionFlags implements IModelTransformer {
    private static final Logger LOG = LoggerFactory.getLogger(OptionFlags.class);

    /** A command whose flags are declared options; it names this class as its model transformer. */
    public interface Configured {
        /** The declaration. */
        Options options();
    }

    @Override
    public CommandSpec transform(CommandSpec command) {
        add(command, ((Configured) command.userObject()).options());
        return command;
    }

    /** Adds a flag for every option. */
    public static void add(CommandSpec command, Options options) {
        options.keys().forEach(key -> command.addOption(flag(key)));
    }

    private static OptionSpec flag(ConfigKey key) {
        OptionSpec.Builder flag = OptionSpec.builder(Options.flag(key.name)).userObject(key).required(!key.hasDefault());
        Object otherwise = key.hasDefault() ? key.defaultValue : null;
        boolean shown = false;
        switch (key.type) {
            case BOOLEAN -> {
                // Without a fallback value picocli would take a flag for the opposite of what the environment or the file have.
                flag.type(Boolean.class).arity("0").fallbackValue("true");
                if (Boolean.TRUE.equals(otherwise)) {
                    flag.negatable(true).defaultValue("true");
                }
            }
            case LIST -> flag.type(List.class).auxiliaryTypes(String.class).splitRegex(",").arity("1").paramLabel(key.displayName);
            default -> {
                flag.type(String.class).arity("1").paramLabel(key.displayName);
                shown = otherwise != null;
                if (otherwise != null) {
                    flag.defaultValue(ConfigDef.convertToString(otherwise, key.type));
                }
            }
        }
        String text = key.documentation.replace("%", "%%");
        return flag.description(shown ? text.replaceFirst("\\.$", "") + " (default: ${DEFAULT-VALUE})." : text).build();
    }

    /**
     * The values of a parsed command line, the environment and the settings file.
     *
     * @throws IllegalArgumentException with every value that cannot be, by its flag
     */
    public static OptionValues values(CommandSpec command, Options options) {
        Map<String, Object> given = new HashMap<>();
        for (ConfigKey key : options.keys()) {
            Object value = command.findOption(Options.flag(key.name)).getValue();
            if (value != null) {
                given.put(key.name, value);
            }
        }
        return OptionValues.parse(options, given);
    }

    /** Writes the effective configuration to the program's own log, which {@code --verbose} shows. */
    public static void log(String program, Map<String, String> effective) {
        StringBuilder lines = new StringBuilder();
        effective.forEach((name, value) -> lines.append("\n    ").append(name).append(" = ").append(value));
        LOG.info("{} configuration:{}", program, lines);
    }
}
