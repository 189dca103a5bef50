/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.tls;

import java.nio.file.Path;

/** A certificate, key or authority cannot be used. The message says what to do. */
public final class TlsException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    TlsException(String option, Path file, Throwable cause) {
        super(option + ": the TLS file " + file + " cannot be used: " + cause.getMessage()
                + "; give PEM files: the certificate chain, and its private key as unencrypted PKCS#8", cause);
    }
}
