/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.tls;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The PEM files of a process, as its options name them, and how they are used.
 *
 * @param certificates the certificate of this process, then those of its issuers; empty for plain listeners
 * @param key the private key, PKCS#8 and not encrypted; empty when it is in the file of the certificates
 * @param clientAuthorities who signs the certificates that callers must show; empty asks callers for none
 * @param authorities who signs the servers that this process calls; empty for those that Java trusts
 * @param minimum lowest version of the protocol
 * @param except listeners that stay plain
 * @param peerName name that the certificates of other nodes, and of a directory's other instances, must have; empty for the host that is called
 */
public record TlsFiles(
        Optional<Path> certificates, Optional<Path> key, Optional<Path> clientAuthorities, Optional<Path> authorities, Version minimum,
        Set<Plain> except, Optional<String> peerName) {
    /** No TLS. */
    public static final TlsFiles NONE =
            new TlsFiles(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Version.TLS13, Set.of(), Optional.empty());

    /** Versions of the protocol. */
    public enum Version {
        /** TLS 1.3 alone. */
        TLS13,
        /** TLS 1.2 too, for old clients. */
        TLS12;

        /** The names that the JDK has for this version and the later ones. */
        String[] protocols() {
            return switch (this) {
                case TLS13 -> new String[] {"TLSv1.3"};
                case TLS12 -> new String[] {"TLSv1.3", "TLSv1.2"};
            };
        }
    }

    /** Listeners that can stay plain. */
    public enum Plain {
        /** Metrics and health: a scraper or a prober of the cluster may have no certificate. */
        STATUS,
        /** The engine API, which listens on loopback. */
        ENGINE
    }

    /** Refuses files that make no sense without others. */
    public TlsFiles {
        except = Set.copyOf(except);
        if (certificates.isEmpty() && (key.isPresent() || clientAuthorities.isPresent())) {
            throw new IllegalArgumentException(
                    (key.isPresent() ? "--tls-key" : "--tls-client-ca") + " needs --tls-certificates: give the certificate of this process too");
        }
        if (peerName.isPresent() && certificates.isEmpty() && authorities.isEmpty()) {
            throw new IllegalArgumentException("--tls-peer-name needs --tls-ca: without it calls have no TLS, and no name is looked at");
        }
    }

    /** A process that only calls others. */
    public static TlsFiles ofClient(Optional<Path> authorities, Optional<Path> certificates, Optional<Path> key) {
        return new TlsFiles(certificates, key, Optional.empty(), authorities, Version.TLS13, Set.of(), Optional.empty());
    }

    /** All files. */
    List<Path> all() {
        return Stream.of(certificates, key, clientAuthorities, authorities).flatMap(Optional::stream).toList();
    }
}
