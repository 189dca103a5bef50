/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.http.JsonBody;
import io.tierlog.controller.http.Problem;
import java.util.Optional;
import java.util.regex.Pattern;

/** Names of nodes in queries, the same for every API. Static and without state. */
final class NodeNames {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final String WHAT = "the name of a node: 1 to 64 letters, digits, dots, dashes, underscores";

    private NodeNames() {}

    /** The node in a field, if present; an invalid name is a finding. */
    static Optional<String> in(JsonBody body, String field) {
        return body.name(field, NAME.pattern(), WHAT);
    }

    /**
     * The node that a text names; none when it is empty, as proto3 has what is left out.
     *
     * @throws Problem INVALID_REQUEST when it is not a name
     */
    static Optional<String> of(String text) {
        if (text.isEmpty()) {
            return Optional.empty();
        }
        if (!NAME.matcher(text).matches()) {
            throw new Problem(Problem.Kind.INVALID_REQUEST, "node must be " + WHAT, "name the node as the log does, or leave it out");
        }
        return Optional.of(text);
    }
}
