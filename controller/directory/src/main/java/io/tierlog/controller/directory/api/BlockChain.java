/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.http.PackedKeys;

/**
 * The blocks of a prompt in a query.
 *
 * @param namespace their namespace
 * @param keys their keys
 * @param firstIndex position of the first in the prompt, in blocks; the others follow it
 */
public record BlockChain(String namespace, PackedKeys keys, int firstIndex) {
    static final int NAMESPACE = 1_024;
    static final int MOST_INDEX = 1 << 30;
}
