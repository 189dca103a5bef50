/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard;

import io.tierlog.controller.http.Endpoint;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Topics;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.ops.dashboard.fold.FoldLimits;
import io.tierlog.ops.dashboard.web.PageServer;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What a live page is started with, checked. Immutable.
 *
 * @param kafka the cluster
 * @param topics names of the topics, which must exist
 * @param registry the schema registry; empty uses the ids of the bundled schemas
 * @param applicationId name of its group, and of its changelog
 * @param stateDir directory of this instance alone
 * @param listen its address
 * @param tokens file with the accepted tokens; empty accepts every caller that reaches the address
 * @param insecure whether an address that others can reach may be served without tokens
 * @param operatorApi the operator API of a controller, which is called when a person acts; empty for a page that only reads
 * @param limits bounds of the rows of each partition
 */
public record DashboardConfig(
        KafkaAccess kafka, Topics topics, Optional<RegistryConfig> registry, String applicationId, Path stateDir, Endpoint listen,
        Optional<Path> tokens, boolean insecure, Optional<URI> operatorApi, FoldLimits limits) {
    /** Refuses an address that is open to all from everywhere, unless that is configured. */
    public DashboardConfig {
        if (tokens.isEmpty() && !insecure && !listen.toSocketAddress().getAddress().isLoopbackAddress()) {
            throw new IllegalArgumentException(PageServer.LISTEN_FLAG + " " + listen + " can be reached from other machines, and without tokens every"
                    + " caller sees the requests of all tenants: give --api-tokens FILE, or listen on 127.0.0.1, or set --api-insecure");
        }
        stateDir = stateDir.toAbsolutePath().normalize();
    }

    /** On loopback, without tokens, with the bundled schemas. */
    public static DashboardConfig of(KafkaAccess kafka, Topics topics, Path stateDir, int port) {
        return new DashboardConfig(kafka, topics, Optional.empty(), topics.prefix() + "-dashboard", stateDir, new Endpoint("127.0.0.1", port),
                Optional.empty(), false, Optional.empty(), FoldLimits.DEFAULTS);
    }

    /** The same with an operator API to call. */
    public DashboardConfig withOperatorApi(URI api) {
        return new DashboardConfig(kafka, topics, registry, applicationId, stateDir, listen, tokens, insecure, Optional.of(api), limits);
    }
}
