/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

/**
 * Where a run stands.
 *
 * @param requestsDone requests that have ended, rejected ones included
 * @param requestsTotal requests of the workload
 * @param running requests in flight
 * @param hits block hits so far
 * @param computedBlocks blocks of prompts computed so far
 * @param loadedBytes bytes loaded from the host and compared
 * @param wrongContent blocks with wrong content
 * @param elapsedMs since the first request
 */
public record Progress(
        int requestsDone,
        int requestsTotal,
        int running,
        Hits hits,
        long computedBlocks,
        long loadedBytes,
        long wrongContent,
        long elapsedMs) {}
