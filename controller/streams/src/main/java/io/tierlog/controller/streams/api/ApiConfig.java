/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
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
    /**
     * An address to listen on.
     *
     * @param host name or address of this machine
     * @param port from 0 to 65535; 0 takes any free one
     */
    public record Endpoint(String host, int port) {
        private static final int MAX_PORT = 65_535;

        /** Refuses ports that do not exist. */
        public Endpoint {
            if (port < 0 || port > MAX_PORT) {
                throw new IllegalArgumentException("port " + port + " is not between 0 and " + MAX_PORT);
            }
        }

        /**
         * Parses HOST:PORT; an IPv6 address stands in brackets.
         *
         * @throws IllegalArgumentException when the text is something else
         */
        public static Endpoint parse(String text) {
            int colon = text.lastIndexOf(':');
            String host = colon < 0 ? "" : text.substring(0, colon);
            try {
                int port = Integer.parseInt(text.substring(colon + 1));
                boolean bracketed = host.startsWith("[") && host.endsWith("]");
                if (!host.isEmpty() && (bracketed || host.indexOf(':') < 0)) {
                    return new Endpoint(bracketed ? host.substring(1, host.length() - 1) : host, port);
                }
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException(notAnAddress(text), e);
            }
            throw new IllegalArgumentException(notAnAddress(text));
        }

        private static String notAnAddress(String text) {
            return "'" + text + "' is not HOST:PORT, for example 127.0.0.1:8081";
        }

        InetSocketAddress toSocketAddress() {
            try {
                return new InetSocketAddress(InetAddress.getByName(host), port);
            } catch (UnknownHostException e) {
                throw new IllegalArgumentException("no machine is called '" + host + "': listen on a name or an address of this one", e);
            }
        }

        @Override
        public String toString() {
            return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
        }
    }

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
