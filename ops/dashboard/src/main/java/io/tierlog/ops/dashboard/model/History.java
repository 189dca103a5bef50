/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

import java.util.List;

/**
 * Use of the tiers of one node over a stretch of time.
 *
 * @param node its name
 * @param atMs beginning of the stretch, milliseconds since 1970
 * @param samples each: time in milliseconds since 1970, used blocks on DEVICE, HOST and DISK
 */
public record History(String node, long atMs, List<long[]> samples) {}
