/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

/**
 * Who asks.
 *
 * @param role what they may do
 * @param name as it stands on the log, 1 to 64 letters, digits, dots, dashes, underscores
 */
record Caller(Role role, String name) {
    /** Whoever comes in where no tokens are asked for. */
    static final Caller LOCAL = new Caller(Role.OPERATOR, "local");

    /** What somebody may do: an operator may read too. */
    enum Role {
        /** May look. */
        READER,
        /** May have things done. */
        OPERATOR;

        boolean includes(Role needed) {
            return compareTo(needed) >= 0;
        }
    }
}
