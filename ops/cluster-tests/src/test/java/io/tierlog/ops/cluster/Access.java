/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import io.tierlog.ops.process.Certificates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * Certificates, users, passwords and tokens of the cluster, and a file of client properties for each of them. The brokers make the common name of a
 * certificate the principal, so a part is the same principal whether it shows a certificate, a password or a token. For one thread.
 */
final class Access {
    /** The brokers among themselves. */
    static final String BROKER = "broker";
    /** The administrator, who makes users and ACLs. */
    static final String ADMIN = "admin";
    /** Each role of the ACL table has a principal of this name. */
    static final List<String> ROLES = List.of("controller", "agent", "directory", "operator", "auditor", "signer", "dashboard", "setup",
            "publisher");

    private static final String[] BROKER_HOSTS = {"DNS:kafka-1", "DNS:kafka-2", "DNS:kafka-3", "IP:127.0.0.1"};

    private final Path directory;
    private final Certificates certificates;
    private final Tokens tokens = new Tokens();

    /** With files in {@code directory}, which the containers see under the same path. */
    Access(Path directory) throws IOException {
        if (!Certificates.isPossible()) {
            throw new IllegalStateException("there is no openssl, which makes the certificates; run apt-get install openssl");
        }
        this.directory = Files.createDirectories(directory);
        this.certificates = Certificates.in(directory.resolve("certificates"));
    }

    /** The certificate and the key of all brokers. */
    byte[] brokerKey() throws IOException {
        return Files.readAllBytes(certificates.certificate(BROKER, BROKER_HOSTS));
    }

    /** The certificate of the authority that signs all others. */
    Path authority() {
        return certificates.authority();
    }

    Certificates certificates() {
        return certificates;
    }

    /** The password of a user. */
    static String password(String user) {
        return "secret-of-" + user;
    }

    /** Properties of a client that shows a certificate in a PEM file. */
    Map<String, String> certificate(String name) throws IOException {
        return certificate(certificates.certificate(name));
    }

    /** Properties of a client that shows the certificate in {@code pem}. */
    Map<String, String> certificate(Path pem) {
        Map<String, String> properties = trusting("SSL", certificates.authority());
        properties.put("ssl.keystore.type", "PEM");
        properties.put("ssl.keystore.location", pem.toString());
        return properties;
    }

    /** Properties of a client that shows a certificate in a PKCS12 file. */
    Map<String, String> pkcs12(String name) throws IOException {
        Map<String, String> properties = trusting("SSL", certificates.authority());
        properties.put("ssl.keystore.type", "PKCS12");
        properties.put("ssl.keystore.location", certificates.pkcs12(certificates.certificate(name), "opensesame").toString());
        properties.put("ssl.keystore.password", "opensesame");
        properties.put("ssl.key.password", "opensesame");
        return properties;
    }

    /** Properties of a client with user and password. */
    Map<String, String> password(String user, String password) {
        Map<String, String> properties = trusting("SASL_SSL", certificates.authority());
        properties.put("sasl.mechanism", "SCRAM-SHA-512");
        properties.put("sasl.jaas.config", "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"" + user + "\" password=\""
                + password + "\";");
        return properties;
    }

    /** Properties of a client with a token of OAuth. */
    Map<String, String> token(String principal) throws IOException {
        Map<String, String> properties = trusting("SASL_SSL", certificates.authority());
        properties.put("sasl.mechanism", "OAUTHBEARER");
        properties.put("sasl.jaas.config", "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;");
        properties.put("sasl.login.callback.handler.class", "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler");
        properties.put("sasl.oauthbearer.token.endpoint.url", tokenFile(principal).toUri().toString());
        return properties;
    }

    /** Where the token of {@code principal} lies; Kafka's clients read only files that a system property of theirs allows. */
    Path tokenFile(String principal) throws IOException {
        return Files.writeString(directory.resolve(principal + ".jwt"), tokens.token(principal));
    }

    /** What the brokers check tokens with. */
    byte[] tokenKeys() {
        return tokens.publicKeys();
    }

    private static Map<String, String> trusting(String protocol, Path authority) {
        Map<String, String> properties = new TreeMap<>();
        properties.put("security.protocol", protocol);
        properties.put("ssl.truststore.type", "PEM");
        properties.put("ssl.truststore.location", authority.toString());
        return properties;
    }

    /** A file with {@code properties}, for {@code --client-config}. */
    Path file(String name, Map<String, String> properties) throws IOException {
        Properties all = new Properties();
        all.putAll(properties);
        Path file = directory.resolve(name + ".properties");
        try (var out = Files.newBufferedWriter(file)) {
            all.store(out, null);
        }
        return file;
    }
}
