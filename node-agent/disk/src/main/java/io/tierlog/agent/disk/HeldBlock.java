/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.schemas.Bytes;

/**
 * A block that the tier holds, from its header; an agent registers it after a restart.
 *
 * @param length in bytes
 */
public record HeldBlock(String namespace, Bytes key, long generation, int length, int crc32c, BlockWrite.Position position) {}
