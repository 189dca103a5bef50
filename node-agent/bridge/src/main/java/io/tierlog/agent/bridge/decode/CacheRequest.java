/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.decode;

import java.util.List;

/** What a payload of LMCache's sink is: batches, or nothing that can be read. */
public sealed interface CacheRequest {
    /** Batches, in the order in which each instance has sent its own. */
    record Batches(List<CacheBatch> batches) implements CacheRequest {}

    /** Nothing that can be read, and why. */
    record Malformed(String reason) implements CacheRequest {}
}
