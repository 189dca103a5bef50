/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the rerun. */
@NullMarked
package io.tierlog.ops.audit.rerun;

import org.jspecify.annotations.NullMarked;
