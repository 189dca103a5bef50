/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.lmcache;

import io.tierlog.controller.http.Endpoint;
import io.tierlog.events.KafkaAccess;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Where LMCache's events come from. Immutable.
 *
 * @param topics Kafka topics; none for no topic
 * @param access the cluster of the topics
 * @param http where they are posted to; empty for nowhere
 */
public record CacheFeeds(List<String> topics, KafkaAccess access, Optional<Http> http) {
    /**
     * Where events are posted to.
     *
     * @param tokens file of the tokens that are accepted; empty for none
     * @param insecure whether other machines may post without tokens
     */
    public record Http(Endpoint listen, Optional<Path> tokens, boolean insecure) {
        /** Refuses an address that other machines reach, unless they need a token or that is explicitly allowed. */
        public Http {
            if (tokens.isEmpty() && !insecure) {
                listen.requireLoopback(
                        "--lmcache-listen", "may report blocks", "give --api-tokens FILE, or listen on 127.0.0.1, or set --api-insecure");
            }
        }
    }

    /** Whether there are any. */
    public boolean isEmpty() {
        return topics.isEmpty() && http.isEmpty();
    }
}
