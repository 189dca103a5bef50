/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory;

import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.Problem;
import io.tierlog.controller.http.Tokens;
import java.util.Optional;

/** Whether instances will let each other in, as far as one can see that of itself when it starts: they have the same files, as a rule. */
final class PeerTokens {
    private PeerTokens() {}

    /**
     * What is to be said; nothing when they will, or when no other instance can be meant.
     *
     * @param tokens those of the doors
     * @param own the token that this instance shows to others
     */
    static Optional<String> warning(DirectoryConfig.Doors doors, Tokens tokens, Optional<String> own) {
        if (doors.tokens().isEmpty()) {
            return Optional.empty();
        }
        if (own.isEmpty()) {
            boolean reachable = doors.advertised().isPresent() || !doors.grpc().toSocketAddress().getAddress().isLoopbackAddress();
            return Optional.of("--api-tokens is given and --peer-token-file is not: another instance of this directory will not let this one in, and"
                            + " what it has is UNKNOWN here; if there are others, give all of them --peer-token-file FILE with an operator's token")
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
        return "other instances with these --api-tokens will not let this one in with the token of --peer-token-file: " + why
                + "; what they have is UNKNOWN here until all have an operator's token without namespaces=";
    }
}
