/* SPDX-License-Identifier: Apache-2.0 */
/** Signed heads of a log: the part that signs them, and the check that the log is what they say. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.audit.heads;
