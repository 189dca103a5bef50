/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A request with a route: its path, query, headers and body. For one request.
 */
public final class HttpRequest {
    private static final int LONGEST_PARAMETER = 2_048;

    private final Caller caller;
    private final Map<String, String> path;
    private final Map<String, String> query;
    private final Optional<String> key;
    private final Optional<String> authorization;
    private final JsonBody body;
    private final byte[] sent;

    /** The parts of a request that are used as received. */
    @SuppressWarnings("ArrayRecordComponent") // For one request, never compared.
    public record Raw(Caller caller, Map<String, String> path, @Nullable String query, @Nullable String key,
            @Nullable String authorization, byte[] body) {
        /** The same without a body. */
        public Raw(Caller caller, Map<String, String> path, @Nullable String query, @Nullable String key, @Nullable String authorization) {
            this(caller, path, query, key, authorization, new byte[0]);
        }
    }

    /**
     * Reads the query.
     *
     * @throws Problem INVALID_REQUEST when the query has a parameter that the route does not have
     */
    public HttpRequest(Raw raw, Route route, JsonBody body) {
        caller = raw.caller();
        path = raw.path();
        query = query(raw.query(), route);
        key = Optional.ofNullable(raw.key());
        authorization = Optional.ofNullable(raw.authorization());
        this.body = body;
        sent = raw.body();
    }

    private static Map<String, String> query(@Nullable String raw, Route route) {
        Map<String, String> found = new LinkedHashMap<>();
        if (raw == null || raw.isEmpty()) {
            return found;
        }
        if (raw.length() > LONGEST_PARAMETER) {
            throw invalid("the query is longer than " + LONGEST_PARAMETER + " characters");
        }
        for (String pair : raw.split("&", -1)) {
            int equals = pair.indexOf('=');
            String name = decoded(equals < 0 ? pair : pair.substring(0, equals));
            if (!route.query().contains(name)) {
                throw invalid("'" + name + "' is not a parameter of " + route.method() + " " + route.template() + "; these are: " + route.query());
            }
            if (found.put(name, equals < 0 ? "" : decoded(pair.substring(equals + 1))) != null) {
                throw invalid("'" + name + "' is given twice");
            }
        }
        return found;
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new Problem(Problem.Kind.INVALID_REQUEST, "the query has a broken escape: " + e.getMessage(),
                    "encode it as a percent sign and two hexadecimal digits");
        }
    }

    private static Problem invalid(String detail) {
        return new Problem(Problem.Kind.INVALID_REQUEST, detail, "GET /v1/openapi.json has all parameters");
    }

    /** The caller. */
    public Caller caller() {
        return caller;
    }

    /** A value of the path. */
    public String path(String name) {
        String value = path.get(name);
        if (value == null) {
            throw new IllegalStateException("the route has no {" + name + "}");
        }
        return value;
    }

    /** A parameter of the query, if present. */
    public Optional<String> query(String name) {
        return Optional.ofNullable(query.get(name));
    }

    /** A whole number in the query. */
    public int query(String name, int least, int most, int otherwise) {
        Optional<String> text = query(name);
        if (text.isEmpty()) {
            return otherwise;
        }
        try {
            int value = Integer.parseInt(text.get());
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            throw outside(name, least, most);
        }
        throw outside(name, least, most);
    }

    private static Problem outside(String name, int least, int most) {
        return invalid(name + " must be a whole number from " + least + " to " + most);
    }

    /** The header Idempotency-Key. */
    public Optional<String> key() {
        return key;
    }

    /** The header Authorization, for a call that is passed on in the caller's name. Never to be logged. */
    public Optional<String> authorization() {
        return authorization;
    }

    /** The body; without fields when the request has none, or its route reads it as it was sent. */
    public JsonBody body() {
        return body;
    }

    /** The bytes of the body; not to be changed. */
    public byte[] sent() {
        return sent;
    }
}
