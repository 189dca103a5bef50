/* SPDX-License-Identifier: Apache-2.0 */
/** {@code tierlog audit}: commands that read a log, and how its statistics are printed, for the report of the demo too. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.cli.audit;
