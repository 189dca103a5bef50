/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.schemas.Bytes;

/**
 * Names a block.
 *
 * @param namespace SHA-256 of the namespace's text
 * @param key of the block, 8 to 32 bytes
 */
record BlockName(Bytes namespace, Bytes key) {}
