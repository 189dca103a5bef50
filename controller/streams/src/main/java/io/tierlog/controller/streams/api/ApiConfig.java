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
            requireLoopback("--api-listen", listen);
            grpc.ifPresent(endpoint -> requireLoopback("--grpc-listen", endpoint));
        }
    }

    private static void requireLoopback(String option, Endpoint endpoint) {
        if (!endpoint.toSocketAddress().getAddress().isLoopbackAddress()) {
            throw new IllegalArgumentException(option + " " + endpoint + " can be reached from other machines, and without tokens every caller"
                    + " may operate: give --api-tokens FILE or --oidc-issuer, or listen on 127.0.0.1, or set --api-insecure");
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
