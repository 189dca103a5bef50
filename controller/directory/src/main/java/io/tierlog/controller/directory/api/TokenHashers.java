/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import java.util.Map;
import java.util.Optional;

/**
 * How keys follow from tokens, by model. Immutable.
 *
 * @param byModel the registered models
 */
public record TokenHashers(Map<String, TokenHasher> byModel) {
    /** No model is registered. */
    public static final TokenHashers NONE = new TokenHashers(Map.of());

    /** Copies the map. */
    public TokenHashers {
        byModel = Map.copyOf(byModel);
    }

    /** That of a model. */
    Optional<TokenHasher> of(String model) {
        return Optional.ofNullable(byModel.get(model));
    }
}
