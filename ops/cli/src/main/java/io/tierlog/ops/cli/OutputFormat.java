/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

/** What {@code --format} takes; the names are what a user types. */
public enum OutputFormat {
    /** For people. */
    text,
    /** For programs: one JSON value per line on stdout, nothing else. */
    json
}
