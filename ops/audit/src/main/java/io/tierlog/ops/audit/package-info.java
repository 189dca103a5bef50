/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reading a log back: does it hold together, and does it hold what it promises.
 *
 * <p>Start at {@link io.tierlog.ops.audit.Verifier}.
 */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.audit;
