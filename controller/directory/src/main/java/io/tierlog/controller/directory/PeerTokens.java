/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory;

import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.Problem;
import io.tierlog.controller.http.Tokens;
import java.util.Optional;

/** Checks whether instances will accept each other's token, as far as one instance can see at its start: they usually have the same files. */
final class PeerTokens {
    private PeerTokens() {}

    /**
     * The warning; empty when they will, or when there can be no other instance.
     *
     * @param tokens those of the servers
     * @param own the token that this instance shows to others
     */
    static Optional<String> warning(DirectoryConfig.Endpoints endpoints, Tokens tokens, Optional<String> own) {
        if (endpoints.access().isOpen()) {
            return Optional.empty();
        }
        if (own.isEmpty()) {
            boolean reachable = endpoints.advertised().isPresent() || !endpoints.grpc().toSocketAddress().getAddress().isLoopbackAddress();
            return Optional.of("--api-tokens is given and --peer-token-file is not: another instance of this directory refuses this one, and"
                            + " its blocks are UNKNOWN here; if there are others, give all of them --peer-token-file FILE with an operator's token")
                    .filter(_ -> reachable);
        }
        try {
            boolean limited = tokens.admit("Bearer " + own.get(), Caller.Role.OPERATOR).scope().isLimited();
            return Optional.of("it has namespaces=").filter(_ -> limited).map(PeerTokens::wrong);
        } catch (Problem problem) {
            return Optional.of(wrong(String.valueOf(problem.getMessage())));
        }
    }

    private static String wrong(String why) {
        return "other instances with these --api-tokens refuse the token of --peer-token-file: " + why
                + "; their blocks are UNKNOWN here until all have an operator's token without namespaces=";
    }
}
