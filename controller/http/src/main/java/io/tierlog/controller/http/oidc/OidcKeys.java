/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http.oidc;

import io.tierlog.threads.Supervised;
import io.tierlog.tls.HttpCalls;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PublicKey;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.jwk.Use;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The public keys of an identity provider, from a URL or a file. A thread of its own reads them at the start, every {@value #EVERY_S} s, and when a
 * token names a key that is not known, at most every {@value #LEAST_S} s: a caller never waits for the provider, and cannot make it be asked often.
 * What cannot be read leaves the last keys in use. Safe for use by several threads.
 */
final class OidcKeys implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OidcKeys.class);
    private static final int EVERY_S = 300;
    private static final int LEAST_S = 10;
    private static final int MOST_KEYS = 100;
    private static final int MOST_BYTES = 1 << 20;
    private static final int LEAST_RSA_BITS = 2_048;
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int OK = 200;

    private final String where;
    private final Optional<HttpClient> client;
    private final BlockingQueue<Boolean> asked = new ArrayBlockingQueue<>(1);
    private final long leastNs;
    private final Thread thread;
    private volatile Keys keys = new Keys(0, Map.of());
    private volatile boolean closed;

    /**
     * What was read last.
     *
     * @param version rises with every change
     */
    record Keys(int version, Map<String, PublicKey> byId) {}

    /** Reads the keys once, if that is possible now, and goes on in the background. */
    OidcKeys(String where, HttpClient.Builder http, Duration least) {
        this.where = where;
        leastNs = least.toNanos();
        client = isUrl(where) ? Optional.of(http.connectTimeout(PATIENCE).followRedirects(HttpClient.Redirect.NEVER).build()) : Optional.empty();
        read();
        thread = Supervised.start("oidc-keys", this::run);
    }

    static Duration usual() {
        return Duration.ofSeconds(LEAST_S);
    }

    static boolean isUrl(String where) {
        return where.startsWith("https://") || where.startsWith("http://");
    }

    Keys now() {
        return keys;
    }

    /** Has the keys read soon, because a token names one that is not there. */
    void missing() {
        boolean _ = asked.offer(true);
    }

    private void run() throws InterruptedException {
        while (!closed) {
            TimeUnit.NANOSECONDS.sleep(leastNs);
            Boolean _ = asked.poll(EVERY_S, TimeUnit.SECONDS);
            read();
        }
    }

    private void read() {
        try {
            Map<String, PublicKey> read = publicKeys(new JsonWebKeySet(client.isPresent() ? fetched(client.get()) : file()));
            if (!read.equals(keys.byId)) {
                keys = new Keys(keys.version + 1, read);
                LOG.info("{} keys of the identity provider are in use, from {}", read.size(), where);
            }
        } catch (IOException | JoseException | RuntimeException e) {
            LOG.warn("the keys of the identity provider cannot be read from {}, {} earlier ones stay in use: {}; correct --oidc-keys, or the"
                    + " provider", where, keys.byId.size(), e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String file() throws IOException {
        Path file = Path.of(where);
        if (Files.size(file) > MOST_BYTES) {
            throw new IOException("it has more than " + MOST_BYTES + " bytes");
        }
        return Files.readString(file);
    }

    private String fetched(HttpClient http) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(where)).header("Accept", "application/json").build();
        HttpResponse<byte[]> answer = HttpCalls.send(http, request, MOST_BYTES, PATIENCE);
        if (answer.statusCode() != OK) {
            throw new IOException("it answers with status " + answer.statusCode());
        }
        return new String(answer.body(), StandardCharsets.UTF_8);
    }

    /** Those that can verify signatures: secrets, keys to encrypt with and short keys are left out. */
    private static Map<String, PublicKey> publicKeys(JsonWebKeySet set) throws IOException {
        Map<String, PublicKey> found = new HashMap<>();
        for (JsonWebKey key : set.getJsonWebKeys()) {
            boolean verifies = !Use.ENCRYPTION.equals(key.getUse()) && found.size() < MOST_KEYS;
            if (verifies && key instanceof PublicJsonWebKey pair && isLong(pair.getPublicKey())) {
                found.put(id(key.getKeyId()), pair.getPublicKey());
            }
        }
        if (found.isEmpty()) {
            throw new IOException("it has no public key of 2048 bits RSA or more, or of an elliptic curve");
        }
        return Map.copyOf(found);
    }

    private static boolean isLong(PublicKey key) {
        return key instanceof ECPublicKey || (key instanceof RSAPublicKey rsa && rsa.getModulus().bitLength() >= LEAST_RSA_BITS);
    }

    /** A key or a token without an id. */
    static String id(@Nullable String id) {
        return id == null ? "" : id;
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        client.ifPresent(HttpClient::shutdownNow);
    }
}
