/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import io.tierlog.controller.http.oidc.OidcRules;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Who may call a server.
 *
 * @param tokens file with the accepted tokens; empty for none
 * @param oidc accepted tokens of an identity provider; empty for none
 * @param requestsPerSecond most requests of one caller in a second, as many at once; 0 for no limit
 */
public record AccessRules(Optional<Path> tokens, Optional<OidcRules> oidc, int requestsPerSecond) {
    /** How to listen for other machines. */
    public static final String TO_BE_REACHED = "give --api-tokens FILE or --oidc-issuer, or listen on 127.0.0.1, or set --api-insecure";

    /** Every caller that reaches the address. */
    public static final AccessRules OPEN = new AccessRules(Optional.empty(), Optional.empty(), 0);

    /** The tokens of a file alone. */
    public static AccessRules of(Path tokens) {
        return new AccessRules(Optional.of(tokens), Optional.empty(), 0);
    }

    /** Whether every caller that reaches the address is accepted. */
    public boolean isOpen() {
        return tokens.isEmpty() && oidc.isEmpty();
    }
}
