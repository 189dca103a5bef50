/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the invariants. */
@org.jspecify.annotations.NullMarked
package io.tierlog.controller.core.invariant;
