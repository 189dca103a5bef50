/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.http.AccessRules;
import io.tierlog.controller.http.Endpoint;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Addresses and access rules of the operator API; validated here. Immutable.
 *
 * @param listen address of HTTP
 * @param grpc address of gRPC; empty serves none
 * @param access who may call it
 * @param insecure whether a reachable address may be served without tokens
 * @param limits the bounds
 */
public record ApiConfig(Endpoint listen, Optional<Endpoint> grpc, AccessRules access, boolean insecure, ApiLimits limits) {
    /** Refuses a reachable address without tokens, unless that is explicitly allowed. */
    public ApiConfig {
        if (access.isOpen() && !insecure) {
            listen.requireLoopback("--api-listen", "may operate", AccessRules.TO_BE_REACHED);
            grpc.ifPresent(endpoint -> endpoint.requireLoopback("--grpc-listen", "may operate", AccessRules.TO_BE_REACHED));
        }
    }

    /** HTTP alone, on loopback, without tokens. */
    public static ApiConfig loopback(int port) {
        return new ApiConfig(new Endpoint("127.0.0.1", port), Optional.empty(), AccessRules.OPEN, false, ApiLimits.DEFAULTS);
    }

    /** The same with gRPC as well. */
    public ApiConfig withGrpc(Endpoint endpoint) {
        return new ApiConfig(listen, Optional.of(endpoint), access, insecure, limits);
    }

    /** The same with tokens. */
    public ApiConfig withTokens(Path file) {
        return new ApiConfig(listen, grpc, AccessRules.of(file), insecure, limits);
    }

    /** The same with other bounds. */
    public ApiConfig withLimits(ApiLimits others) {
        return new ApiConfig(listen, grpc, access, insecure, others);
    }
}
