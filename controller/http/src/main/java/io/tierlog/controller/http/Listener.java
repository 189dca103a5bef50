/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import io.tierlog.tls.Tls;

/**
 * Where and how a server listens.
 *
 * @param option the command-line flag that named the address, for error messages
 * @param endpoint the address
 * @param limits the server's bounds
 * @param tls TLS of the process; without a certificate it serves plain text
 */
public record Listener(String option, Endpoint endpoint, ServerLimits limits, Tls tls) {
    /** A listener without TLS. */
    public Listener(String option, Endpoint endpoint, ServerLimits limits) {
        this(option, endpoint, limits, Tls.NONE);
    }
}
