/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.schemas.Bytes;

/**
 * Which blocks are asked for. The array is the caller's, who leaves it as it is meanwhile.
 *
 * @param namespace digest of their namespace
 * @param keys their keys, one behind the other
 * @param width bytes of each, 8 to 32
 * @param placements whether it is asked where they are, and not only whether they are anywhere
 */
@SuppressWarnings("ArrayRecordComponent") // Lives for one call, is never compared.
public record KeyQuery(Bytes namespace, byte[] keys, int width, boolean placements) {
    /** Number of keys. */
    public int count() {
        return keys.length / width;
    }
}
