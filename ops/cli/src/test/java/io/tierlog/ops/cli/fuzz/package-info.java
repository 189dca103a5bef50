/* SPDX-License-Identifier: Apache-2.0 */
/** Changed bytes for every decoder that reads what others wrote. */
@NullMarked
package io.tierlog.ops.cli.fuzz;

import org.jspecify.annotations.NullMarked;
