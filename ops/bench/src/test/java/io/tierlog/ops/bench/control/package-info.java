/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the control benchmark: its counts, never its times. */
@NullMarked
package io.tierlog.ops.bench.control;

import org.jspecify.annotations.NullMarked;
