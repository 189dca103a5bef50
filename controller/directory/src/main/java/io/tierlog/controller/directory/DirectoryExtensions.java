/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory;

import io.tierlog.controller.directory.api.QueryNamespaces;
import io.tierlog.controller.directory.api.TokenHashers;
import io.tierlog.controller.directory.probe.ProbeLimits;
import io.tierlog.controller.directory.probe.PromotionRequests;
import java.util.Optional;

/**
 * The parts of a directory besides the log.
 *
 * @param promotions receiver of promotion requests; empty for the log
 * @param probeLimits the bounds of promotion requests
 * @param hashers how keys follow from tokens, by model
 * @param namespaces which namespace a query of the indexer interface is about
 */
public record DirectoryExtensions(Optional<PromotionRequests> promotions, ProbeLimits probeLimits, TokenHashers hashers, QueryNamespaces namespaces) {
    /** Nothing. */
    public static final DirectoryExtensions NONE =
            new DirectoryExtensions(Optional.empty(), ProbeLimits.DEFAULTS, TokenHashers.NONE, QueryNamespaces.MODEL);
}
