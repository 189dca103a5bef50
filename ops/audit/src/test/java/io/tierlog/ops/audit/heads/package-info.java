/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of signed heads. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.audit.heads;
