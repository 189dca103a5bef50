/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory;

import io.tierlog.controller.directory.api.Indexer;
import io.tierlog.controller.directory.probe.ProbeLimits;
import io.tierlog.controller.directory.probe.PromotionRequests;
import java.util.Optional;

/**
 * The parts of a directory besides the log.
 *
 * @param promotions receiver of promotion requests; empty for the log
 * @param probeLimits the bounds of promotion requests
 * @param indexer how queries of the indexer interfaces are answered
 */
public record DirectoryExtensions(Optional<PromotionRequests> promotions, ProbeLimits probeLimits, Indexer indexer) {
    /** Nothing. */
    public static final DirectoryExtensions NONE =
            new DirectoryExtensions(Optional.empty(), ProbeLimits.DEFAULTS, Indexer.NONE);
}
