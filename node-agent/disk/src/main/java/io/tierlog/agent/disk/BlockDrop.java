/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.schemas.Bytes;

/**
 * A block to drop.
 *
 * @param key 8 to 32 bytes
 * @param generation that it must have, or 0 for any
 */
public record BlockDrop(Bytes key, long generation) {}
