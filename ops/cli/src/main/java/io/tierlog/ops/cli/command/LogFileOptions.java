/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.events.registry.SchemaIds;
import io.tierlog.events.topic.Topics;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The flags that say how the records of a log are named and encoded: some of {@link LogOptions}, as a mixin. */
@Command
public class LogFileOptions {
    private @Nullable CommandSpec command;

    Options options() {
        return LogOptions.ofFiles();
    }

    /** Picocli calls it with the command that has this mixin. */
    @Spec(Spec.Target.MIXEE)
    void command(CommandSpec spec) {
        if (command == null) {
            OptionFlags.add(spec, options());
        }
        command = spec;
    }

    /** What was given, and the defaults. */
    final OptionValues values() {
        CommandSpec spec = command;
        if (spec == null) {
            throw new IllegalStateException("not a mixin of a command");
        }
        return ClusterOptions.checked(() -> OptionFlags.values(spec, options()));
    }

    /** The topics. */
    public final Topics topics() {
        return LogOptions.topics(values());
    }

    /** Empty for the bundled schema ids. */
    public final Optional<RegistryConfig> registry() {
        return ClusterOptions.checked(() -> LogOptions.registry(values(), RegistryLimits.DEFAULTS));
    }

    /** The codec, with ids from the registry or from the bundled schemas. */
    public final Codec codec() {
        SchemaIds ids = registry().<SchemaIds>map(RegistryClient::new).orElseGet(Schemas::bundled);
        return new Codec(ids);
    }
}
