/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of child processes, with small shell programs. */
@NullMarked
package io.tierlog.ops.process;

import org.jspecify.annotations.NullMarked;
