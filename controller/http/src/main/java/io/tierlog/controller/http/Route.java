/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One operation of an HTTP API.
 *
 * @param method GET, POST or DELETE
 * @param template its path, with names in braces
 * @param role the least role of its callers
 * @param query names of its query parameters
 * @param takesBody whether a body is read
 * @param asSent whether the handler reads the body itself: {@link HttpRequest#sent}
 * @param handler makes the response
 */
public record Route(String method, String template, Caller.Role role, Set<String> query, boolean takesBody, boolean asSent,
        Function<HttpRequest, HttpResponse> handler) {
    /** A read without a body. */
    public static Route get(String template, Set<String> query, Function<HttpRequest, HttpResponse> handler) {
        return new Route("GET", template, Caller.Role.READER, query, false, false, handler);
    }

    /** A change, for operators. */
    public static Route operate(String method, String template, Function<HttpRequest, HttpResponse> handler) {
        return new Route(method, template, Caller.Role.OPERATOR, Set.of(), true, false, handler);
    }

    /** A change, for operators, whose body the handler reads: for one that may be no JSON, or whose fields are not all known. */
    public static Route receive(String template, Function<HttpRequest, HttpResponse> handler) {
        return new Route("POST", template, Caller.Role.OPERATOR, Set.of(), true, true, handler);
    }

    /** A read with a body. */
    public static Route ask(String template, Function<HttpRequest, HttpResponse> handler) {
        return new Route("POST", template, Caller.Role.READER, Set.of(), true, false, handler);
    }

    /** The path's values by the template's names; null when the path does not match. */
    public @Nullable Map<String, String> match(String rawPath) {
        String[] mine = template.split("/", -1);
        String[] theirs = rawPath.split("/", -1);
        if (mine.length != theirs.length) {
            return null;
        }
        Map<String, String> found = new LinkedHashMap<>();
        for (int i = 0; i < mine.length; i++) {
            if (mine[i].startsWith("{")) {
                found.put(mine[i].substring(1, mine[i].length() - 1), decoded(theirs[i]));
            } else if (!mine[i].equals(theirs[i])) {
                return null;
            }
        }
        return found;
    }

    private static String decoded(String segment) {
        // A plus is a plus in a path.
        return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
    }
}
