/* SPDX-License-Identifier: Apache-2.0 */
/** {@code tierlog whatif}: other policies and sizes over a trace or a generated workload. */
@NullMarked
package io.tierlog.ops.cli.whatif;

import org.jspecify.annotations.NullMarked;
