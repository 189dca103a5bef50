/* SPDX-License-Identifier: Apache-2.0 */
/** Decides a recorded log again and compares the decisions. */
@NullMarked
package io.tierlog.ops.audit.rerun;

import org.jspecify.annotations.NullMarked;
