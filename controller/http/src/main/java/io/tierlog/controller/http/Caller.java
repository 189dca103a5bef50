/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

/**
 * The sender of a request.
 *
 * @param role what the caller may do
 * @param name as the log records it, 1 to 64 letters, digits, dots, dashes, underscores
 * @param scope namespaces whose blocks the caller may see
 */
public record Caller(Role role, String name, Scope scope) {
    /** The caller of a server without tokens. */
    public static final Caller LOCAL = new Caller(Role.OPERATOR, "local", Scope.ALL);

    /** A caller of what is open to all. */
    static final Caller NONE = new Caller(Role.READER, "none", Scope.ALL);

    /** What a caller may do: an operator may also read. */
    public enum Role {
        /** May read. */
        READER,
        /** May read and change. */
        OPERATOR;

        /** Whether this role has the rights of {@code needed}. */
        public boolean includes(Role needed) {
            return compareTo(needed) >= 0;
        }
    }
}
