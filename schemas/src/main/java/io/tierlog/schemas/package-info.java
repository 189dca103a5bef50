/* SPDX-License-Identifier: Apache-2.0 */
/** Wire types of the log: generated immutable records, and the few value types they are made of. */
@org.jspecify.annotations.NullMarked
package io.tierlog.schemas;
