/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;

/** Blocks that left a tier of a node at a time in milliseconds since 1970, why, and how many had no other known placement. */
public record Removal(long atMs, Tier tier, String namespace, RemovalReason reason, int blocks, int lastCopies) {}
