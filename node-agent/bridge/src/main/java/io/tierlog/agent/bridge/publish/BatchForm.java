/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

/**
 * How batches are written.
 *
 * @param maps events as maps, as vLLM does from 0.24 on; false for arrays, as before
 * @param numbers keys as numbers of 64 bits, the low ones of longer keys; false for the bytes of keys that are longer than 8
 * @param blockTokens tokens of a block, 0 when it is not known
 */
record BatchForm(boolean maps, boolean numbers, int blockTokens) {}
