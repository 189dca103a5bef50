/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.query;

import io.tierlog.schemas.Bytes;

/**
 * The blocks of a query. The array is the caller's, which must not change it meanwhile.
 *
 * @param namespace digest of their namespace
 * @param keys their keys, one behind the other
 * @param width bytes of each, 8 to 32
 * @param placements whether their placements are wanted, and not only their presence
 */
@SuppressWarnings("ArrayRecordComponent") // For one call, never compared.
public record KeyQuery(Bytes namespace, byte[] keys, int width, boolean placements) {
    /** Number of keys. */
    public int count() {
        return keys.length / width;
    }
}
