/* SPDX-License-Identifier: Apache-2.0 */
/** Mutants: edits to the shipped cores, each of which takes out one guard, and the tests that notice. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.mutants;
