/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.tls;

import java.io.IOException;
import java.security.cert.CertificateExpiredException;
import java.util.Optional;
import javax.net.ssl.SSLException;

/** Why a handshake with a server failed. The JDK says it as text; only expiry has a type of its own. */
public enum TlsFault {
    /** The certificate of the server has expired. */
    EXPIRED("its certificate has expired; give the server a new one, which it reads without a restart"),
    /** The certificate of the server is for another host name. */
    OTHER_HOST("its certificate is for another host name; call it by a name of the certificate, or give it one with this name as"
            + " subjectAltName"),
    /** The certificate of the server is not signed by an authority that this process trusts. */
    UNKNOWN_AUTHORITY("its certificate is not signed by an authority that this process trusts; name the file of its authority with --tls-ca"),
    /** The server refuses the certificate of this process, or misses one. */
    REFUSED("it refuses the certificate of this process, or misses one; give --tls-certificates and --tls-key a certificate that has not expired"
            + " and that an authority of the server's --tls-client-ca has signed"),
    /** The server speaks something else. */
    NO_TLS("it does not speak TLS at this port; use its TLS port, or call it without TLS"),
    /** Something else. */
    OTHER("the TLS handshake failed; look at the log of the server");

    private final String advice;

    TlsFault(String advice) {
        this.advice = advice;
    }

    /** What failed, and what to do; follows the address of the server and a colon. */
    public String advice() {
        return advice;
    }

    /** What a call failed with; empty when that is not TLS. */
    public static Optional<TlsFault> of(Throwable failure) {
        boolean tls = false;
        for (Throwable each = failure; each != null; each = each.getCause()) {
            Optional<TlsFault> fault = one(each);
            if (fault.isPresent()) {
                return fault;
            }
            tls |= each instanceof SSLException;
        }
        return tls ? Optional.of(OTHER) : Optional.empty();
    }

    private static Optional<TlsFault> one(Throwable failure) {
        String text = String.valueOf(failure.getMessage());
        if (failure instanceof CertificateExpiredException) {
            return Optional.of(EXPIRED);
        }
        if (text.contains("No subject alternative") || text.contains("No name matching")) {
            return Optional.of(OTHER_HOST);
        }
        if (text.contains("unable to find valid certification path") || text.contains("Path does not chain with any of the trust anchors")) {
            return Optional.of(UNKNOWN_AUTHORITY);
        }
        if (failure instanceof IOException && text.contains("fatal alert")) {
            return Optional.of(REFUSED);
        }
        return text.contains("recognized SSL message") || text.contains("not an SSL/TLS record") ? Optional.of(NO_TLS) : Optional.empty();
    }
}
