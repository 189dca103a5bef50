/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.streams.api.ApiConfig;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.topic.Topics;
import io.tierlog.tls.Tls;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * The configuration of a controller instance; checked once, here. Immutable. Begin with {@link #of} and change what differs.
 *
 * @param kafka the cluster, and how long to wait for it and the registry at start
 * @param topics names of the topics, which must exist
 * @param registry the schema registry; empty uses the ids of the bundled schemas
 * @param applicationId name of the group of instances that share the work: also prefix of the changelog topic and of transactional ids
 * @param coreVersion version of the core that decides, {@link CoreVersion#OLDEST} to {@link CoreVersion#CURRENT}
 * @param instanceId name of this instance within the group, kept over restarts so that a restart takes no rebalance; empty takes one that
 *     is generated once and kept in the state directory
 * @param stateDir directory of this instance alone, on a disk that survives restarts
 * @param http where metrics and health are served; empty serves neither
 * @param api the operator API; empty serves none
 * @param streams the settings of Kafka Streams and RocksDB
 * @param commands how commands leave
 * @param tickMs distance between two ticks of a partition, in milliseconds
 * @param skipInputs records that an operator wants skipped, each with a decision on record
 * @param traces where spans go; empty when traces are off
 * @param tls of its listeners
 */
public record ControllerConfig(
        KafkaAccess kafka,
        Topics topics,
        Optional<RegistryConfig> registry,
        String applicationId,
        int coreVersion,
        Optional<String> instanceId,
        Path stateDir,
        Optional<HttpAddress> http,
        Optional<ApiConfig> api,
        StreamsTuning streams,
        CommandDelivery commands,
        int tickMs,
        Set<InputPosition> skipInputs,
        Optional<URI> traces,
        Tls tls) {
    private static final int MAX_SKIPS = 1_000;

    /** Where to listen; port 0 takes any free one. */
    public record HttpAddress(String host, int port) {
        /** Refuses ports that do not exist. */
        public HttpAddress {
            if (port < 0 || port > 65_535) {
                throw new IllegalArgumentException("port " + port + " is not between 0 and 65535");
            }
        }
    }

    /** Refuses settings that bound nothing or cannot work together. */
    public ControllerConfig {
        requireName("application id", applicationId);
        instanceId.ifPresent(id -> requireName("instance id", id));
        StreamsTuning.within("core version", coreVersion, CoreVersion.OLDEST, CoreVersion.CURRENT);
        StreamsTuning.within("tick", tickMs, 10, 60_000);
        if (skipInputs.size() > MAX_SKIPS) {
            throw new IllegalArgumentException("at most " + MAX_SKIPS + " records can be skipped by hand, not " + skipInputs.size());
        }
        skipInputs = Set.copyOf(skipInputs);
        stateDir = stateDir.toAbsolutePath().normalize();
    }

    private static void requireName(String what, String name) {
        if (!name.matches("[A-Za-z0-9._-]{1,100}")) {
            throw new IllegalArgumentException(what + " '" + name + "' is not 1 to 100 letters, digits, dots, dashes, underscores");
        }
    }

    /** The defaults: bundled schemas, no HTTP, no operator API, commands sent at once, a tick a second. */
    public static ControllerConfig of(KafkaAccess kafka, Path stateDir) {
        return new ControllerConfig(
                kafka,
                Topics.DEFAULT,
                Optional.empty(),
                Topics.DEFAULT.controllers(),
                CoreVersion.CURRENT,
                Optional.empty(),
                stateDir,
                Optional.empty(),
                Optional.empty(),
                StreamsTuning.DEFAULTS,
                CommandDelivery.DIRECT,
                1_000,
                Set.of(),
                Optional.empty(),
                Tls.NONE);
    }

    /** A builder that begins with these settings. */
    public Builder with() {
        return new Builder(this);
    }

    /** Changes some settings. Not safe for use by several threads. */
    public static final class Builder {
        private KafkaAccess kafka;
        private Topics topics;
        private Optional<RegistryConfig> registry;
        private String applicationId;
        private int coreVersion;
        private Optional<String> instanceId;
        private Path stateDir;
        private Optional<HttpAddress> http;
        private Optional<ApiConfig> api;
        private StreamsTuning streams;
        private CommandDelivery commands;
        private int tickMs;
        private Set<InputPosition> skipInputs;
        private Optional<URI> traces;
        private Tls tls;

        private Builder(ControllerConfig from) {
            kafka = from.kafka;
            topics = from.topics;
            registry = from.registry;
            applicationId = from.applicationId;
            coreVersion = from.coreVersion;
            instanceId = from.instanceId;
            stateDir = from.stateDir;
            http = from.http;
            api = from.api;
            streams = from.streams;
            commands = from.commands;
            tickMs = from.tickMs;
            skipInputs = from.skipInputs;
            traces = from.traces;
            tls = from.tls;
        }

        /** The cluster. */
        public Builder kafka(KafkaAccess value) {
            kafka = value;
            return this;
        }

        /** Names of the topics. */
        public Builder topics(Topics value) {
            topics = value;
            return this;
        }

        /** A schema registry instead of the bundled ids. */
        public Builder registry(RegistryConfig value) {
            registry = Optional.of(value);
            return this;
        }

        /** Name of the group of instances. */
        public Builder applicationId(String value) {
            applicationId = value;
            return this;
        }

        /** Version of the core that decides. */
        public Builder coreVersion(int value) {
            coreVersion = value;
            return this;
        }

        /** Name of this instance. */
        public Builder instanceId(String value) {
            instanceId = Optional.of(value);
            return this;
        }

        /** Directory of this instance. */
        public Builder stateDir(Path value) {
            stateDir = value;
            return this;
        }

        /** Serve metrics and health. */
        public Builder http(String host, int port) {
            http = Optional.of(new HttpAddress(host, port));
            return this;
        }

        /** Serve the operator API. */
        public Builder api(ApiConfig value) {
            api = Optional.of(value);
            return this;
        }

        /** Settings of Kafka Streams and RocksDB. */
        public Builder streams(StreamsTuning value) {
            streams = value;
            return this;
        }

        /** How commands leave. */
        public Builder commands(CommandDelivery value) {
            commands = value;
            return this;
        }

        /** Distance between ticks in milliseconds. */
        public Builder tickMs(int value) {
            tickMs = value;
            return this;
        }

        /** Records to skip. */
        public Builder skipInputs(Set<InputPosition> value) {
            skipInputs = value;
            return this;
        }

        /** Send spans to this URL. */
        public Builder traces(URI value) {
            traces = Optional.of(value);
            return this;
        }

        /** TLS of its listeners. */
        public Builder tls(Tls value) {
            tls = value;
            return this;
        }

        /** The settings, checked. */
        public ControllerConfig build() {
            return new ControllerConfig(
                    kafka,
                    topics,
                    registry,
                    applicationId,
                    coreVersion,
                    instanceId,
                    stateDir,
                    http,
                    api,
                    streams,
                    commands,
                    tickMs,
                    skipInputs,
                    traces,
                    tls);
        }
    }
}
