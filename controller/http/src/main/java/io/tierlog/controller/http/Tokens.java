/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Callers by their tokens. The file holds digests only, so its readers learn no token. Immutable: a changed file needs a restart.
 *
 * <p>A lookup compares a token's digest with every line, each in constant time, so its duration reveals nothing.
 */
public final class Tokens {
    private static final Pattern LINE = Pattern.compile(
            "(reader|operator)\\s+([A-Za-z0-9._-]{1,64})\\s+sha256:([0-9a-fA-F]{64})(?:\\s+namespaces=(.+))?");
    private static final Pattern BEARER = Pattern.compile("(?i:Bearer) +([!-~]{1,512})");
    private static final int MAX_LINES = 10_000;
    private static final Tokens NONE = new Tokens(List.of(), true, true);

    private final List<Entry> entries;
    private final boolean open;
    private final boolean scoped;

    private static final class Entry {
        private final Caller caller;
        private final byte[] digest;

        Entry(Caller caller, byte[] digest) {
            this.caller = caller;
            this.digest = digest;
        }
    }

    private Tokens(List<Entry> entries, boolean open, boolean scoped) {
        this.entries = entries;
        this.open = open;
        this.scoped = scoped;
    }

    /**
     * Reads the file, for an API that shows the data of all tenants: it refuses callers that are limited to some namespaces. Without a file every
     * caller is {@link Caller#LOCAL}.
     *
     * @throws ServerException.TokensUnusable when it cannot be read, has no token, or a line is not a token
     */
    public static Tokens of(Optional<Path> file) {
        return file.map(path -> read(path, false)).orElse(NONE);
    }

    /**
     * Reads the file, for an API that respects {@link Caller#scope}.
     *
     * @throws ServerException.TokensUnusable as {@link #of}
     */
    public static Tokens scoped(Optional<Path> file) {
        return file.map(path -> read(path, true)).orElse(NONE);
    }

    private static Tokens read(Path file, boolean scoped) {
        try {
            List<String> lines = Files.readAllLines(file);
            if (lines.size() > MAX_LINES) {
                throw new IllegalArgumentException("more than " + MAX_LINES + " lines");
            }
            List<Entry> entries = new ArrayList<>();
            for (int i = 0; i < lines.size(); i++) {
                String line = lines.get(i).strip();
                if (!line.isEmpty() && !line.startsWith("#")) {
                    entries.add(entry(line, i + 1));
                }
            }
            if (entries.isEmpty()) {
                throw new IllegalArgumentException("it has no token, so no caller would be accepted");
            }
            return new Tokens(List.copyOf(entries), false, scoped);
        } catch (IOException | IllegalArgumentException e) {
            throw new ServerException.TokensUnusable(file, String.valueOf(e.getMessage()), e);
        }
    }

    /** True when callers need no token. */
    boolean open() {
        return open;
    }

    private static Entry entry(String line, int number) {
        Matcher matcher = LINE.matcher(line);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("line " + number + " is not a token");
        }
        Caller.Role role = matcher.group(1).equals("operator") ? Caller.Role.OPERATOR : Caller.Role.READER;
        Scope scope = matcher.group(4) == null ? Scope.ALL : Scope.of(matcher.group(4));
        return new Entry(new Caller(role, matcher.group(2), scope), HexFormat.of().parseHex(matcher.group(3)));
    }

    /**
     * The caller whose token an Authorization header holds.
     *
     * @param authorization the header or the metadata entry; null without one
     * @throws Problem UNAUTHENTICATED without a known token, FORBIDDEN when the role or scope does not permit the request
     */
    public Caller admit(@Nullable String authorization, Caller.Role needed) {
        Caller caller = open ? Caller.LOCAL : known(authorization);
        if (!caller.role().includes(needed)) {
            throw new Problem(Problem.Kind.FORBIDDEN, "the token of " + caller.name() + " is for reading only", "use the token of an operator");
        }
        if (caller.scope().isLimited() && !scoped) {
            throw new Problem(Problem.Kind.FORBIDDEN,
                    "the token of " + caller.name() + " is limited to some namespaces, and this API shows all of them",
                    "use a token without namespaces=");
        }
        return caller;
    }

    private Caller known(@Nullable String authorization) {
        Matcher bearer = BEARER.matcher(authorization == null ? "" : authorization);
        Caller found = null;
        if (bearer.matches()) {
            byte[] digest = digest(bearer.group(1));
            for (Entry entry : entries) {
                if (MessageDigest.isEqual(entry.digest, digest)) {
                    found = entry.caller;
                }
            }
        }
        if (found == null) {
            throw new Problem(Problem.Kind.UNAUTHENTICATED, authorization == null ? "the request has no token" : "the token is unknown",
                    "send the header: Authorization: Bearer TOKEN, with a token whose digest is in the server's --api-tokens");
        }
        return found;
    }

    private static byte[] digest(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java has no SHA-256, which every Java must have", e);
        }
    }
}
