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
 * One thing that can be asked.
 *
 * @param method GET, POST or DELETE
 * @param template its path, with names in braces
 * @param role who may ask
 * @param query names of its parameters
 * @param takesBody whether a body is read
 * @param handler answers
 */
public record Route(String method, String template, Caller.Role role, Set<String> query, boolean takesBody,
        Function<HttpRequest, HttpResponse> handler) {
    /** Something to be read, without a body. */
    public static Route get(String template, Set<String> query, Function<HttpRequest, HttpResponse> handler) {
        return new Route("GET", template, Caller.Role.READER, query, false, handler);
    }

    /** Something to be done. */
    public static Route operate(String method, String template, Function<HttpRequest, HttpResponse> handler) {
        return new Route(method, template, Caller.Role.OPERATOR, Set.of(), true, handler);
    }

    /** Something to be read that is asked for with a body. */
    public static Route ask(String template, Function<HttpRequest, HttpResponse> handler) {
        return new Route("POST", template, Caller.Role.READER, Set.of(), true, handler);
    }

    /** What stands in the places of the names; null when the path is another one. */
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
