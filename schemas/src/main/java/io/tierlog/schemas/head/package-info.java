/* SPDX-License-Identifier: Apache-2.0 */
/** Signed heads of a log: where its partitions ended, and digests of their records. */
@org.jspecify.annotations.NullMarked
package io.tierlog.schemas.head;
