/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The one command, {@code tierlog}: a class per subcommand, and what they share (settings, errors, staying in the foreground).
 * Subcommands parse, call a module and print; they decide nothing themselves.
 */
@NullMarked
package io.tierlog.ops.cli;

import org.jspecify.annotations.NullMarked;
