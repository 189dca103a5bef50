/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.schemas.Bytes;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A block to read.
 *
 * @param key 8 to 32 bytes
 * @param generation that it must have, or 0 for any
 * @param into native memory of exactly the block's length, one piece after the other; undefined after a failure
 */
public record BlockRead(Bytes key, long generation, List<MemorySegment> into) {}
