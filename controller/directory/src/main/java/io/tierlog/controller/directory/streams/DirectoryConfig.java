/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.http.AccessRules;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.topic.Topics;
import io.tierlog.tls.Tls;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What a directory instance is started with; checked once, here. Immutable. Begin with {@link #of} and change what differs.
 *
 * @param kafka the cluster, and how long it and the registry are waited for at start
 * @param topics names of the topics, which must exist
 * @param registry the schema registry; empty uses the ids of the bundled schemas
 * @param applicationId name of the group of instances that share the partitions
 * @param instanceId name of this instance within the group, kept over restarts: then a restart takes no rebalance, and a stop no take-over before the
 *     session ends; empty leaves the group when it is closed
 * @param stateDir directory of this instance alone
 * @param endpoints its addresses and access rules
 * @param limits the bounds
 * @param costs what a block costs from where
 * @param tls of its listeners and of its calls to other instances
 */
public record DirectoryConfig(
        KafkaAccess kafka,
        Topics topics,
        Optional<RegistryConfig> registry,
        String applicationId,
        Optional<String> instanceId,
        Path stateDir,
        Endpoints endpoints,
        DirectoryLimits limits,
        Costs costs,
        Tls tls) {
    /**
     * The addresses of an instance, and who may call them.
     *
     * @param http JSON
     * @param grpc gRPC, also for the other instances
     * @param advertised name or address by which other instances reach the gRPC port; empty for the one that it listens on
     * @param status metrics and health; empty serves neither
     * @param access who may call it
     * @param peerToken file with the token by which this instance comes in to others
     * @param insecure whether addresses that others can reach may be served without tokens
     */
    public record Endpoints(
            Endpoint http,
            Endpoint grpc,
            Optional<String> advertised,
            Optional<Endpoint> status,
            AccessRules access,
            Optional<Path> peerToken,
            boolean insecure) {
        /** Refuses addresses that are open to every caller from everywhere, unless that is configured. */
        public Endpoints {
            if (access.isOpen() && !insecure) {
                http.requireLoopback("--directory-listen", "sees the blocks of all tenants", AccessRules.TO_BE_REACHED);
                grpc.requireLoopback("--directory-grpc-listen", "sees the blocks of all tenants", AccessRules.TO_BE_REACHED);
            }
        }

        /** On loopback, without tokens. */
        public static Endpoints loopback(int http, int grpc) {
            return new Endpoints(new Endpoint("127.0.0.1", http), new Endpoint("127.0.0.1", grpc), Optional.empty(),
                    Optional.empty(), AccessRules.OPEN, Optional.empty(), false);
        }

        /** The same with tokens, and with this instance's own token for the other instances. */
        public Endpoints withTokens(Path file, Path own) {
            return new Endpoints(http, grpc, advertised, status, AccessRules.of(file), Optional.of(own), insecure);
        }
    }

    /** Refuses names that Kafka would refuse. */
    public DirectoryConfig {
        requireName("application id", applicationId);
        instanceId.ifPresent(id -> requireName("instance id", id));
        stateDir = stateDir.toAbsolutePath().normalize();
    }

    private static void requireName(String what, String name) {
        if (!name.matches("[A-Za-z0-9._-]{1,100}")) {
            throw new IllegalArgumentException(what + " '" + name + "' is not 1 to 100 letters, digits, dots, dashes, underscores");
        }
    }

    /** The defaults: bundled schemas, any free ports of loopback, no tokens. */
    public static DirectoryConfig of(KafkaAccess kafka, Topics topics, Path stateDir) {
        return new DirectoryConfig(kafka, topics, Optional.empty(), topics.directories(), Optional.empty(), stateDir,
                Endpoints.loopback(0, 0), DirectoryLimits.DEFAULTS, Costs.DEFAULTS, Tls.NONE);
    }

    /** The same with a registry, or none. */
    public DirectoryConfig withRegistry(Optional<RegistryConfig> other) {
        return new DirectoryConfig(kafka, topics, other, applicationId, instanceId, stateDir, endpoints, limits, costs, tls);
    }

    /** The same under other names. */
    public DirectoryConfig withNames(String application, Optional<String> instance) {
        return new DirectoryConfig(kafka, topics, registry, application, instance, stateDir, endpoints, limits, costs, tls);
    }

    /** The same with other endpoints. */
    public DirectoryConfig withEndpoints(Endpoints other) {
        return new DirectoryConfig(kafka, topics, registry, applicationId, instanceId, stateDir, other, limits, costs, tls);
    }

    /** The same with other bounds. */
    public DirectoryConfig withLimits(DirectoryLimits other) {
        return new DirectoryConfig(kafka, topics, registry, applicationId, instanceId, stateDir, endpoints, other, costs, tls);
    }

    /** The same with other costs. */
    public DirectoryConfig withCosts(Costs other) {
        return new DirectoryConfig(kafka, topics, registry, applicationId, instanceId, stateDir, endpoints, limits, other, tls);
    }

    /** The same with TLS. */
    public DirectoryConfig withTls(Tls other) {
        return new DirectoryConfig(kafka, topics, registry, applicationId, instanceId, stateDir, endpoints, limits, costs, other);
    }
}
