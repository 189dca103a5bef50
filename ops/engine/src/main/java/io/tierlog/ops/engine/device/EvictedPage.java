/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.device;

import io.tierlog.ops.engine.workload.BlockId;
import io.tierlog.ops.engine.workload.BlockKey;
import java.util.Optional;

/**
 * A block that has left the device and that the agent knew to be there.
 *
 * @param index its index in the prompt
 * @param parent key of the block before it; empty for index 0
 * @param page the page it was in
 * @param generation generation of the page while it was in it
 */
public record EvictedPage(BlockId block, int index, Optional<BlockKey> parent, int page, long generation) {}
