/* SPDX-License-Identifier: Apache-2.0 */
/** What commands share: options of a cluster, text of tables and times, errors, waiting for Ctrl-C. */
@NullMarked
package io.tierlog.ops.cli.command;

import org.jspecify.annotations.NullMarked;
