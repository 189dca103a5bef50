/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the audit. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.audit;
