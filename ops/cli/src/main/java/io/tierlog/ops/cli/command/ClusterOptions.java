/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogSetupException;
import io.tierlog.events.Schemas;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.registry.RegistryException;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.events.registry.SchemaIds;
import io.tierlog.events.topic.Topics;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The flags that name the log a command works on: those of {@link LogOptions}, as a mixin. */
@Command
public final class ClusterOptions {
    private @Nullable CommandSpec command;

    /** Picocli calls it with the command that has this mixin. */
    @Spec(Spec.Target.MIXEE)
    void command(CommandSpec spec) {
        if (command == null) {
            OptionFlags.add(spec, LogOptions.options());
        }
        command = spec;
    }

    private OptionValues values() {
        CommandSpec spec = command;
        if (spec == null) {
            throw new IllegalStateException("not a mixin of a command");
        }
        return checked(() -> OptionFlags.values(spec, LogOptions.options()));
    }

    /** The cluster. */
    public KafkaAccess kafka() {
        return checked(() -> LogOptions.kafka(values()));
    }

    /** The topics. */
    public Topics topics() {
        return LogOptions.topics(values());
    }

    /** Empty for the bundled schema ids. */
    public Optional<RegistryConfig> registry() {
        return checked(() -> LogOptions.registry(values(), RegistryLimits.DEFAULTS));
    }

    /** The codec, with ids from the registry or from the bundled schemas. */
    public Codec codec() {
        SchemaIds ids = registry().<SchemaIds>map(RegistryClient::new).orElseGet(Schemas::bundled);
        return new Codec(ids);
    }

    /** Runs {@code step}; what is wrong with flags, brokers, topics or registry becomes an error with a hint. */
    public static <T> T checked(Supplier<T> step) {
        try {
            return step.get();
        } catch (LogSetupException.NotAuthenticated | LogSetupException.AclsMissing | LogSetupException.BadClientConfig e) {
            throw new CliError(e.getMessage(), "docs/cluster.md shows the file of --client-config and the ACLs of each part", CliError.BAD_INPUT, e);
        } catch (LogSetupException e) {
            throw new CliError(e.getMessage(), "look at --bootstrap-servers, and run: tierlog topics create", CliError.BAD_INPUT, e);
        } catch (RegistryException e) {
            throw new CliError(e.getMessage(), "look at --registry-url, or leave it out", CliError.BAD_INPUT, e);
        } catch (IllegalArgumentException e) {
            throw new CliError(String.valueOf(e.getMessage()), "look at --help", CliError.BAD_INPUT, e);
        }
    }
}
