/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.http.Endpoint;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where the operator's door is and who may come in; checked once, here. Immutable.
 *
 * @param listen where HTTP is served
 * @param grpc where gRPC is served; empty serves none
 * @param tokens file with the tokens of those who may come in; empty lets in whoever reaches the address
 * @param insecure whether an address that others can reach may be served without tokens
 * @param limits the bounds
 */
public record ApiConfig(Endpoint listen, Optional<Endpoint> grpc, Optional<Path> tokens, boolean insecure, ApiLimits limits) {
    /** Refuses to let everybody in from everywhere, unless that was asked for. */
    public ApiConfig {
        if (tokens.isEmpty() && !insecure) {
            requireLoopback("--api-listen", listen);
            grpc.ifPresent(endpoint -> requireLoopback("--grpc-listen", endpoint));
        }
    }

    private static void requireLoopback(String option, Endpoint endpoint) {
        if (!endpoint.toSocketAddress().getAddress().isLoopbackAddress()) {
            throw new IllegalArgumentException(option + " " + endpoint + " can be reached from other machines, and without tokens whoever reaches it"
                    + " may operate: give --api-tokens FILE, or listen on 127.0.0.1, or say --api-insecure");
        }
    }

    /** HTTP alone, on loopback, without tokens. */
    public static ApiConfig loopback(int port) {
        return new ApiConfig(new Endpoint("127.0.0.1", port), Optional.empty(), Optional.empty(), false, ApiLimits.DEFAULTS);
    }

    /** The same with gRPC as well. */
    public ApiConfig withGrpc(Endpoint endpoint) {
        return new ApiConfig(listen, Optional.of(endpoint), tokens, insecure, limits);
    }

    /** The same for those who have a token. */
    public ApiConfig withTokens(Path file) {
        return new ApiConfig(listen, grpc, Optional.of(file), insecure, limits);
    }

    /** The same with other bounds. */
    public ApiConfig withLimits(ApiLimits others) {
        return new ApiConfig(listen, grpc, tokens, insecure, others);
    }
}
