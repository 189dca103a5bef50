/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import io.tierlog.controller.http.oidc.OidcRefusedException;
import io.tierlog.controller.http.oidc.OidcRules;
import io.tierlog.controller.http.oidc.OidcTokens;
import io.tierlog.tls.Tls;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Callers by their tokens: those of a file, which holds digests only, so its readers learn no token; and those of an identity provider. A changed
 * file needs a restart. Safe for use by several threads.
 *
 * <p>A lookup compares a token's digest with every line, each in constant time, so its duration reveals nothing.
 */
public final class Tokens implements AutoCloseable {
    private static final Pattern LINE = Pattern.compile(
            "(reader|operator)\\s+([A-Za-z0-9._-]{1,64})\\s+sha256:([0-9a-fA-F]{64})(?:\\s+namespaces=(.+))?");
    private static final Pattern BEARER = Pattern.compile("(?i:Bearer) +([!-~]{1,8192})");
    private static final int MAX_LINES = 10_000;
    private static final int NAME = 64;
    private static final String PROVIDER = "oidc.";
    private static final Pattern RECORDED = Pattern.compile("[A-Za-z0-9._-]+");
    private static final int HASH = 8;

    private final List<Entry> entries;
    private final boolean open;
    private final boolean scoped;
    private final Optional<OidcTokens> oidc;
    private final AccessRules rules;
    private final RateLimits rates;
    private final Map<Refused, LongAdder> refused = new EnumMap<>(Refused.class);

    /** Why a request was refused. */
    public enum Refused {
        /** No token, or one that is not accepted. */
        UNAUTHENTICATED,
        /** The token does not permit this. */
        FORBIDDEN,
        /** Too many requests of the caller. */
        RATE
    }

    private static final class Entry {
        private final Caller caller;
        private final byte[] digest;

        Entry(Caller caller, byte[] digest) {
            this.caller = caller;
            this.digest = digest;
        }
    }

    private Tokens(AccessRules rules, Tls tls, boolean scoped) {
        this.rules = rules;
        entries = rules.tokens().map(Tokens::read).orElse(List.of());
        open = rules.isOpen();
        this.scoped = scoped;
        rates = new RateLimits(rules.requestsPerSecond(), System::nanoTime);
        for (Refused reason : Refused.values()) {
            refused.put(reason, new LongAdder());
        }
        oidc = rules.oidc().map(each -> new OidcTokens(each, tls.client(HttpClient.newBuilder())));
    }

    /**
     * For an API that shows the data of all tenants: it refuses callers that are limited to some namespaces. An open API takes every caller as
     * {@link Caller#LOCAL}.
     *
     * @param tls with which the keys of an identity provider are read
     * @throws ServerException.TokensUnusable when the file cannot be read, has no token, or a line is not a token
     */
    public static Tokens of(AccessRules rules, Tls tls) {
        return new Tokens(rules, tls, false);
    }

    /** The same with the tokens of a file alone. */
    public static Tokens of(Optional<Path> file) {
        return of(file.map(AccessRules::of).orElse(AccessRules.OPEN), Tls.NONE);
    }

    /**
     * For an API that respects {@link Caller#scope}.
     *
     * @throws ServerException.TokensUnusable as {@link #of(AccessRules, Tls)}
     */
    public static Tokens scoped(AccessRules rules, Tls tls) {
        return new Tokens(rules, tls, true);
    }

    /** The same with the tokens of a file alone. */
    public static Tokens scoped(Optional<Path> file) {
        return scoped(file.map(AccessRules::of).orElse(AccessRules.OPEN), Tls.NONE);
    }

    private static List<Entry> read(Path file) {
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
            return List.copyOf(entries);
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

    /** Requests that were refused for a reason, count. */
    public long refused(Refused reason) {
        return counter(reason).sum();
    }

    private LongAdder counter(Refused reason) {
        return Objects.requireNonNull(refused.get(reason));
    }

    /**
     * The caller whose token an Authorization header holds.
     *
     * @param authorization the header or the metadata entry; null without one
     * @throws Problem UNAUTHENTICATED without a token that is accepted, FORBIDDEN when the role or scope does not permit the request, RATE_LIMITED
     *     when the caller has made too many
     */
    public Caller admit(@Nullable String authorization, Caller.Role needed) {
        Caller caller = open ? Caller.LOCAL : known(authorization);
        if (!caller.role().includes(needed)) {
            throw refusal(Refused.FORBIDDEN, Problem.Kind.FORBIDDEN, "the token of " + caller.name() + " is for reading only",
                    "use the token of an operator");
        }
        if (caller.scope().isLimited() && !scoped) {
            throw refusal(Refused.FORBIDDEN, Problem.Kind.FORBIDDEN,
                    "the token of " + caller.name() + " is limited to some namespaces, and this API shows all of them",
                    "use a token without namespaces=");
        }
        if (!rates.admits(caller.name())) {
            throw refusal(Refused.RATE, Problem.Kind.RATE_LIMITED, caller.name() + " makes more than " + rules.requestsPerSecond()
                    + " requests in a second", "make fewer, or have --api-rate raised");
        }
        return caller;
    }

    private Problem refusal(Refused reason, Problem.Kind kind, String detail, String action) {
        counter(reason).increment();
        return new Problem(kind, detail, action);
    }

    private Caller known(@Nullable String authorization) {
        Matcher bearer = BEARER.matcher(authorization == null ? "" : authorization);
        Caller found = null;
        if (bearer.matches()) {
            String token = bearer.group(1);
            if (oidc.isPresent() && OidcTokens.isOne(token)) {
                return ofProvider(oidc.get(), token);
            }
            byte[] digest = digest(token);
            for (Entry entry : entries) {
                if (MessageDigest.isEqual(entry.digest, digest)) {
                    found = entry.caller;
                }
            }
        }
        if (found == null) {
            throw refusal(Refused.UNAUTHENTICATED, Problem.Kind.UNAUTHENTICATED,
                    authorization == null ? "the request has no token" : "the token is unknown",
                    "send the header: Authorization: Bearer TOKEN, with a token " + (oidc.isEmpty() ? "" : "of the identity provider, or one ")
                            + "whose digest is in the server's --api-tokens");
        }
        return found;
    }

    private Caller ofProvider(OidcTokens provider, String token) {
        OidcTokens.Claims claims;
        try {
            claims = provider.verify(token);
        } catch (OidcRefusedException e) {
            throw refusal(Refused.UNAUTHENTICATED, Problem.Kind.UNAUTHENTICATED, "the token is not accepted: " + e.getMessage(),
                    "get a new token from the identity provider, or correct --oidc-issuer, --oidc-audience or --oidc-keys of the server");
        }
        String name = name(claims.subject());
        OidcRules wanted = rules.oidc().orElseThrow();
        boolean operator = claims.roles().contains(wanted.operatorRole());
        if (!operator && !claims.roles().contains(wanted.readerRole())) {
            throw refusal(Refused.FORBIDDEN, Problem.Kind.FORBIDDEN, "the token of " + name + " has neither the role " + wanted.operatorRole()
                    + " nor " + wanted.readerRole(), "give its owner one of them at the identity provider, in the claim " + wanted.rolesClaim());
        }
        try {
            Scope scope = claims.namespaces().map(patterns -> Scope.of(String.join(",", patterns))).orElse(Scope.ALL);
            return new Caller(operator ? Caller.Role.OPERATOR : Caller.Role.READER, name, scope);
        } catch (IllegalArgumentException e) {
            throw refusal(Refused.FORBIDDEN, Problem.Kind.FORBIDDEN, "the namespaces of the token of " + name + " are not usable: " + e.getMessage(),
                    "correct the claim at the identity provider");
        }
    }

    /** The subject as the log can record it; another subject gets another name, and no name of the file. */
    private static String name(String subject) {
        String name = PROVIDER + subject;
        if (name.length() <= NAME && RECORDED.matcher(subject).matches()) {
            return name;
        }
        String hash = HexFormat.of().formatHex(digest(subject)).substring(0, HASH);
        String readable = subject.replaceAll("[^A-Za-z0-9._-]", "_");
        return PROVIDER + readable.substring(0, Math.min(readable.length(), NAME - PROVIDER.length() - HASH - 1)) + "." + hash;
    }

    @Override
    public void close() {
        oidc.ifPresent(OidcTokens::close);
    }

    private static byte[] digest(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("This Java has no SHA-256, which every Java must have", e);
        }
    }
}
