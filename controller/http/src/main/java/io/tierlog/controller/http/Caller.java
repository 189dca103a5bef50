/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

/**
 * Who asks.
 *
 * @param role what they may do
 * @param name as it stands on the log, 1 to 64 letters, digits, dots, dashes, underscores
 * @param scope whose blocks they may know of
 */
public record Caller(Role role, String name, Scope scope) {
    /** Whoever comes in where no tokens are asked for. */
    public static final Caller LOCAL = new Caller(Role.OPERATOR, "local", Scope.ALL);

    /** What somebody may do: an operator may read too. */
    public enum Role {
        /** May look. */
        READER,
        /** May have things done. */
        OPERATOR;

        /** Whether who may do this may do what {@code needed} says. */
        public boolean includes(Role needed) {
            return compareTo(needed) >= 0;
        }
    }
}
