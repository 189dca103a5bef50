/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.util.Optional;

/**
 * Where and how a server listens.
 *
 * @param option the command-line flag that named the address, for error messages
 * @param endpoint the address
 * @param limits the server's bounds
 * @param tls the certificate; empty serves plain text
 */
public record Listener(String option, Endpoint endpoint, ServerLimits limits, Optional<Tls> tls) {
    /** A listener without TLS. */
    public Listener(String option, Endpoint endpoint, ServerLimits limits) {
        this(option, endpoint, limits, Optional.empty());
    }
}
