/* SPDX-License-Identifier: Apache-2.0 */
/** The arithmetic and the text of the transfer benchmark. */
@NullMarked
package io.tierlog.ops.bench.transfer;

import org.jspecify.annotations.NullMarked;
