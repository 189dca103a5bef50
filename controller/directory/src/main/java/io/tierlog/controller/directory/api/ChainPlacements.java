/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.query.Freshness;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Where the blocks of a chain are.
 *
 * @param chain the chain
 * @param found by the number of the block within the chain
 * @param freshness how old that may be
 */
public record ChainPlacements(BlockChain chain, IntFunction<Found> found, Freshness freshness) {
    /** Nothing is anywhere. */
    static ChainPlacements none(BlockChain chain, Freshness freshness) {
        Found none = new Found(Presence.NOT_FOUND, List.of());
        return new ChainPlacements(chain, _ -> none, freshness);
    }

    int count() {
        return chain.keys().count();
    }
}
