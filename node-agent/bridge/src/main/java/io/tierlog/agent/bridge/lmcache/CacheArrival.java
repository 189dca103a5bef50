/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.lmcache;

import io.tierlog.agent.bridge.decode.CacheBatch;

/** What arrives of LMCache's events. */
public sealed interface CacheArrival {
    /**
     * A batch.
     *
     * @param ageMs how long ago it was written, where a topic is read from its start; else 0
     * @param way by which it came: a partition, or HTTP
     * @param whole whether nothing came by that way before what was read of it
     */
    record Batch(CacheBatch batch, long ageMs, String way, boolean whole) implements CacheArrival {}

    /** A record with the name of this instance as its key, and not even the number of a batch can be read. */
    record Unreadable(String instance, String reason) implements CacheArrival {}

    /** Records of this partition were deleted before they were read. */
    record Deleted(String way) implements CacheArrival {}

    /** All records have come that were in the topics at the start. */
    record CaughtUp() implements CacheArrival {}
}
