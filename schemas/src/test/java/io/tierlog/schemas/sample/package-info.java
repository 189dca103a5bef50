/* SPDX-License-Identifier: Apache-2.0 */
/** A family of records that only tests use: every type a schema may hold. */
@org.jspecify.annotations.NullMarked
package io.tierlog.schemas.sample;
