/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogSetupException;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.Options;
import io.tierlog.events.registry.RegistryException;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** The flags that name the log a command works on: those of {@link LogOptions}, as a mixin. */
@Command
public final class ClusterOptions extends LogFileOptions {
    @Override
    Options options() {
        return LogOptions.options();
    }

    /** The cluster. */
    public KafkaAccess kafka() {
        return checked(() -> LogOptions.kafka(values()));
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
