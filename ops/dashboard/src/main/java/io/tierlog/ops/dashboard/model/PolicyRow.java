/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

/**
 * What the pages show of the policy in force.
 *
 * @param version its number
 * @param adoptedMs when the partition adopted it, milliseconds since 1970
 * @param hostHighMark share of the host at which eviction starts; 0 for none
 * @param hostLowMark share at which it stops
 * @param diskHighMark the same for the disk
 * @param diskLowMark the same for the disk
 * @param prefetchThresholdBlocks a fetch needs more blocks than this
 * @param text all of it, as a policy document
 */
public record PolicyRow(
        long version, long adoptedMs, double hostHighMark, double hostLowMark, double diskHighMark, double diskLowMark, int prefetchThresholdBlocks,
        String text) {}
