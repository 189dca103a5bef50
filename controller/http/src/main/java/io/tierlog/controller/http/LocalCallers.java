/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Keeps web pages away from a server that listens on loopback and needs no token. A page of any site can have its own name resolve to this machine
 * (DNS rebinding); its requests then carry that name as Host, and its site as Origin. Immutable.
 */
final class LocalCallers {
    private static final Pattern LOOPBACK = Pattern.compile("localhost|.*\\.localhost|127(\\.\\d{1,3}){3}|\\[?::1]?");

    private final boolean checks;
    private final Set<String> names;

    /** @throws ServerException.CannotListen when the host of the address is unknown */
    LocalCallers(Listener where, Tokens tokens) {
        try {
            checks = tokens.open() && where.endpoint().toSocketAddress().getAddress().isLoopbackAddress();
        } catch (IllegalArgumentException e) {
            throw new ServerException.CannotListen(where.option(), where.endpoint(), e);
        }
        names = Set.of(where.endpoint().host().toLowerCase(Locale.ROOT));
    }

    /**
     * Looks at the headers Host and Origin.
     *
     * @param host null when the request has none, which no browser sends
     * @param origin null when the request has none
     * @throws Problem FORBIDDEN when one names something else than this machine
     */
    void admit(@Nullable String host, @Nullable String origin) {
        if (!checks) {
            return;
        }
        require("Host", host, host == null ? Optional.empty() : name("http://" + host));
        require("Origin", origin, origin == null ? Optional.empty() : name(origin));
    }

    private void require(String header, @Nullable String value, Optional<String> name) {
        if (value != null && name.filter(this::isLocal).isEmpty()) {
            throw new Problem(Problem.Kind.FORBIDDEN,
                    "the header " + header + " is " + value + ", and without tokens this server answers callers on this machine alone",
                    "call it by 127.0.0.1 or localhost, or start it with a file of tokens and send one");
        }
    }

    private boolean isLocal(String name) {
        return LOOPBACK.matcher(name).matches() || names.contains(name);
    }

    private static Optional<String> name(String uri) {
        try {
            return Optional.ofNullable(new URI(uri).getHost()).map(name -> name.toLowerCase(Locale.ROOT));
        } catch (URISyntaxException e) {
            return Optional.empty();
        }
    }
}
