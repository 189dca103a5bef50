/* SPDX-License-Identifier: Apache-2.0 */
/** Half of a deliberate circle of packages. */
@NullMarked
package io.tierlog.ops.cli.tidy.circle.second;

import org.jspecify.annotations.NullMarked;
