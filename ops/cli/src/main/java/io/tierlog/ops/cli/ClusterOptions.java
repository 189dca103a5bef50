/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.LogSetupException;
import io.tierlog.events.Schemas;
import io.tierlog.events.Topics;
import io.tierlog.events.registry.Credentials;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.registry.RegistryException;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.events.registry.SchemaIds;
import java.io.IOException;
import java.io.Reader;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flags that say which log a command works on; the same for every command that has them. */
public final class ClusterOptions {
    @Option(
            names = "--bootstrap-servers",
            paramLabel = "HOST:PORT",
            description = "Kafka brokers, several with commas (default: ${DEFAULT-VALUE}).")
    String bootstrapServers = "127.0.0.1:9092";

    @Option(names = "--client-config", paramLabel = "FILE", description = "Further Kafka client properties, for security.")
    @Nullable Path clientConfig;

    @Option(
            names = "--registry-url",
            paramLabel = "URL",
            split = ",",
            description = "Schema registries that speak Confluent's protocol, several with commas (default: none, the bundled schema ids).")
    List<URI> registries = List.of();

    @Option(names = "--topic-prefix", paramLabel = "NAME", description = "What the topics' names begin with (default: ${DEFAULT-VALUE}).")
    String topicPrefix = "tierlog";

    @Option(
            names = "--connect-timeout",
            paramLabel = "SECONDS",
            description = "How long brokers and registry are waited for at start (default: ${DEFAULT-VALUE}).")
    int connectTimeoutSeconds = 15;

    /** The cluster. */
    public KafkaAccess kafka() {
        return checked(() -> new KafkaAccess(bootstrapServers, clientProperties(), Duration.ofSeconds(connectTimeoutSeconds)));
    }

    /** The topics. */
    public Topics topics() {
        return checked(() -> new Topics(topicPrefix));
    }

    /** Empty for the bundled schema ids. */
    public Optional<RegistryConfig> registry() {
        return registries.isEmpty()
                ? Optional.empty()
                : Optional.of(checked(() -> new RegistryConfig(registries, Credentials.NONE, RegistryLimits.DEFAULTS)));
    }

    /** The codec, with ids from the registry or from the bundled schemas. */
    public Codec codec() {
        SchemaIds ids = registry().<SchemaIds>map(RegistryClient::new).orElseGet(Schemas::bundled);
        return new Codec(ids);
    }

    /** Runs {@code step}; what is wrong with flags, brokers, topics or registry becomes an error that says what to do. */
    public static <T> T checked(Supplier<T> step) {
        try {
            return step.get();
        } catch (LogSetupException e) {
            throw new CliError(e.getMessage(), "look at --bootstrap-servers, and run: tierlog topics create", CliError.BAD_INPUT, e);
        } catch (RegistryException e) {
            throw new CliError(e.getMessage(), "look at --registry-url, or leave it out", CliError.BAD_INPUT, e);
        } catch (IllegalArgumentException e) {
            throw new CliError(String.valueOf(e.getMessage()), "look at --help", CliError.BAD_INPUT, e);
        }
    }

    private Map<String, String> clientProperties() {
        Map<String, String> properties = new TreeMap<>();
        if (clientConfig != null) {
            Properties file = new Properties();
            try (Reader reader = Files.newBufferedReader(clientConfig)) {
                file.load(reader);
            } catch (IOException e) {
                throw new CliError("cannot read " + clientConfig + ": " + e, "look at --client-config", CliError.BAD_INPUT, e);
            }
            file.stringPropertyNames().forEach(name -> properties.put(name, file.getProperty(name)));
        }
        return properties;
    }
}
