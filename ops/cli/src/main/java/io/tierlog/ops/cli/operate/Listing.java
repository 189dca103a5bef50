/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import io.tierlog.ops.cli.command.CliError;

/** Checks that lists share. Static and without state. */
final class Listing {
    private Listing() {}

    static void requirePositive(int limit) {
        if (limit < 1) {
            throw new CliError("--limit " + limit + " would show nothing", "give 1 or more", CliError.BAD_INPUT);
        }
    }
}
