/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.function.Supplier;

/** How the client names itself to the registry. No implementation shows its secret in {@code toString}. */
public sealed interface Credentials {
    /** No credentials. */
    Credentials NONE = new None();

    /** The value of the Authorization header for one request. */
    Optional<String> authorization();

    /** Nothing is sent. */
    record None() implements Credentials {
        @Override
        public Optional<String> authorization() {
            return Optional.empty();
        }
    }

    /** HTTP basic authentication (RFC 7617), in UTF-8. */
    record Basic(String user, String password) implements Credentials {
        /** Refuses a user name that would be cut at its colon. */
        public Basic {
            if (user.indexOf(':') >= 0) {
                throw new IllegalArgumentException("a user name for basic authentication holds no colon");
            }
        }

        @Override
        public Optional<String> authorization() {
            byte[] pair = (user + ":" + password).getBytes(StandardCharsets.UTF_8);
            return Optional.of("Basic " + Base64.getEncoder().encodeToString(pair));
        }

        @Override
        public String toString() {
            return "Basic[user=" + user + "]";
        }
    }

    /** A bearer token (RFC 6750), asked for at every request so that it can be renewed. The supplier must be quick and thread-safe. */
    record Bearer(Supplier<String> token) implements Credentials {
        @Override
        public Optional<String> authorization() {
            return Optional.of("Bearer " + token.get());
        }

        @Override
        public String toString() {
            return "Bearer";
        }
    }
}
