/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

/** Values of {@code --format}, as a user types them. */
public enum OutputFormat {
    /** For people. */
    text,
    /** For programs: one JSON value per line on stdout, nothing else. */
    json
}
