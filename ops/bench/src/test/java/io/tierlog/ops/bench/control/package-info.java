/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the control benchmark: what it counts, never how long it took. */
@NullMarked
package io.tierlog.ops.bench.control;

import org.jspecify.annotations.NullMarked;
