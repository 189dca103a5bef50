/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reading a log back: are its records complete and unaltered, and do its invariants hold.
 *
 * <p>Start at {@link io.tierlog.ops.audit.Verifier}.
 */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.audit;
