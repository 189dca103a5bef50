/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.config;

import io.tierlog.events.KafkaAccess;
import io.tierlog.events.registry.Credentials;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.events.sign.RecordKeys;
import io.tierlog.events.sign.RecordSigning;
import io.tierlog.events.topic.Topics;
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
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;

/** The options that name the log a program works on, the same for every program. Static and without state. */
public final class LogOptions {
    /** HOST:PORT, several with commas. */
    public static final String BOOTSTRAP_SERVERS = "bootstrap.servers";

    /** A file of further client properties. */
    public static final String CLIENT_CONFIG = "client.config";

    /** The schema registries. */
    public static final String REGISTRY_URL = "registry.url";

    /** Begins the names of the topics. */
    public static final String TOPIC_PREFIX = "topic.prefix";

    /** Seconds. */
    public static final String CONNECT_TIMEOUT = "connect.timeout";

    /** A file of keys that sign records. */
    public static final String RECORD_KEYS = "record.keys";

    /** What becomes of records without a code. */
    public static final String RECORD_CHECK = "record.check";

    private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9._-]{1,100}");

    private LogOptions() {}

    /** The options alone. */
    public static Options options() {
        return declare(new Options());
    }

    /** Declares them beside others. */
    public static Options declare(Options options) {
        return names(options.group("Log", Importance.HIGH)
                .option(BOOTSTRAP_SERVERS, ConfigDef.Type.STRING, "127.0.0.1:9092", Bounds.SERVERS, "HOST:PORT",
                        "Kafka brokers, several with commas.")
                .text(CLIENT_CONFIG, Bounds.FILE, "FILE", "File of further Kafka client properties, for security (default: none)."))
                .text(RECORD_KEYS, Bounds.FILE, "FILE",
                        "File of keys with which records are signed and checked, made by 'keys create' and 'keys derive' (default: none, they are"
                                + " not).")
                .option(RECORD_CHECK, ConfigDef.Type.STRING, RecordSigning.Mode.REQUIRE.name(), Bounds.oneOf(RecordSigning.Mode.class), "HOW",
                        "With --record-keys, what becomes of records without a code. REQUIRE: they are refused. WARN: they are taken and counted.")
                .number(CONNECT_TIMEOUT, 15, 1, 600, "SECONDS", "Time to wait for brokers and registry at start.");
    }

    /** What says how the files of a log are read. */
    public static Options ofFiles() {
        return names(new Options().group("Log", Importance.HIGH));
    }

    private static Options names(Options options) {
        return options.list(REGISTRY_URL, Bounds.URL, "URL",
                        "Schema registries that speak Confluent's protocol, several with commas (default: none, the bundled schema ids).")
                .option(TOPIC_PREFIX, ConfigDef.Type.STRING, "tierlog",
                        Bounds.pattern("1 to 100 letters, digits, dots, dashes or underscores", PREFIX), "NAME",
                        "First part of the names of the topics.");
    }

    /**
     * The cluster.
     *
     * @throws IllegalArgumentException when the file of client properties or of record keys cannot be read
     */
    public static KafkaAccess kafka(OptionValues values) {
        Optional<RecordSigning> signing = values.findPath(RECORD_KEYS)
                .map(file -> new RecordSigning(RecordKeys.read(file), topics(values), values.constant(RECORD_CHECK, RecordSigning.Mode.class)));
        return new KafkaAccess(values.text(BOOTSTRAP_SERVERS), properties(values, CLIENT_CONFIG),
                Duration.ofSeconds(values.number(CONNECT_TIMEOUT)), signing);
    }

    /** The topics. */
    public static Topics topics(OptionValues values) {
        return new Topics(values.text(TOPIC_PREFIX));
    }

    /** Empty for the bundled schema ids. */
    public static Optional<RegistryConfig> registry(OptionValues values, RegistryLimits limits) {
        List<URI> urls = values.list(REGISTRY_URL).stream().map(URI::create).toList();
        return urls.isEmpty() ? Optional.empty() : Optional.of(new RegistryConfig(urls, Credentials.NONE, limits));
    }

    /**
     * The properties in the file that an option names; none when it names none.
     *
     * @throws IllegalArgumentException when the file cannot be read
     */
    public static Map<String, String> properties(OptionValues values, String option) {
        return values.findPath(option).map(file -> properties(Options.flag(option), file)).orElse(Map.of());
    }

    private static Map<String, String> properties(String flag, Path file) {
        Properties read = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            read.load(reader);
        } catch (IOException e) {
            throw new IllegalArgumentException(flag + ": cannot read " + file + ": " + e, e);
        }
        Map<String, String> properties = new TreeMap<>();
        read.stringPropertyNames().forEach(name -> properties.put(name, read.getProperty(name)));
        return properties;
    }
}
