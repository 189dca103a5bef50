/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard;

import io.tierlog.controller.http.AccessRules;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.dashboard.fold.FoldLimits;
import io.tierlog.ops.dashboard.web.PageServer;
import io.tierlog.tls.Tls;
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
 * @param access who may call it
 * @param insecure whether an address that others can reach may be served without tokens
 * @param operatorApi the operator API of a controller, which is called when a person acts; empty for a page that only reads
 * @param snapshots directory of the log's snapshots, of which the page shows a list; empty for none
 * @param limits bounds of the rows of each partition
 * @param tls of its listener and of its calls to the operator API
 */
public record DashboardConfig(
        KafkaAccess kafka, Topics topics, Optional<RegistryConfig> registry, String applicationId, Path stateDir, Endpoint listen,
        AccessRules access, boolean insecure, Optional<URI> operatorApi, Optional<Path> snapshots,
        FoldLimits limits, Tls tls) {
    /** Refuses an address that is open to all from everywhere, unless that is configured. */
    public DashboardConfig {
        if (access.isOpen() && !insecure) {
            listen.requireLoopback(PageServer.LISTEN_FLAG, "sees the requests of all tenants", AccessRules.TO_BE_REACHED);
        }
        stateDir = stateDir.toAbsolutePath().normalize();
    }

    /** On loopback, without tokens, with the bundled schemas. */
    public static DashboardConfig of(KafkaAccess kafka, Topics topics, Path stateDir, int port) {
        return new DashboardConfig(kafka, topics, Optional.empty(), topics.dashboards(), stateDir, new Endpoint("127.0.0.1", port),
                AccessRules.OPEN, false, Optional.empty(), Optional.empty(), FoldLimits.DEFAULTS, Tls.NONE);
    }

    /** The same with snapshots. */
    public DashboardConfig withSnapshots(Path directory) {
        return new DashboardConfig(kafka, topics, registry, applicationId, stateDir, listen, access, insecure, operatorApi, Optional.of(directory),
                limits, tls);
    }

    /** The same with an operator API to call. */
    public DashboardConfig withOperatorApi(URI api) {
        return new DashboardConfig(kafka, topics, registry, applicationId, stateDir, listen, access, insecure, Optional.of(api), snapshots,
                limits, tls);
    }
}
