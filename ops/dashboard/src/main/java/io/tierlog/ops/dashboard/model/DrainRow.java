/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

import java.util.List;

/**
 * How far the drain of a node is.
 *
 * @param node its name
 * @param draining whether the whole node drains
 * @param instances engine instances that drain
 * @param sinceMs when that changed last, milliseconds since 1970
 * @param pass passes over its placements before this one
 * @param saving blocks of this pass that are being saved
 * @param left blocks of this pass, or of the whole drain when it is done, that cannot be saved
 * @param doneMs when nothing was left; 0 before
 */
public record DrainRow(String node, boolean draining, List<String> instances, long sinceMs, int pass, long saving, long left, long doneMs) {}
