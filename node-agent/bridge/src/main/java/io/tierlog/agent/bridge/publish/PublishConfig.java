/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import io.tierlog.controller.http.Endpoint;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.TlsOptions;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.events.topic.Topics;
import io.tierlog.schemas.Tier;
import io.tierlog.tls.Tls;
import java.net.URI;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a publisher is started with, checked. Immutable.
 *
 * @param events address of the first partition's events
 * @param replay the same for replays
 * @param connect addresses of subscribers
 * @param status address of metrics and health; empty for none
 * @param tls of its HTTP listeners and of its calls to webhooks
 */
public record PublishConfig(KafkaAccess access, Topics topics, Optional<RegistryConfig> registry, String events, String replay, List<String> connect,
        Content content, Http http, Optional<Endpoint> status, Tls tls) {
    /** What is published, and how it is written. */
    record Content(Set<Tier> tiers, ReplayAnswer.Shape shape) {}

    /**
     * Subscribers without ZeroMQ.
     *
     * @param listen address of server-sent events; empty for none
     * @param tokens file of the tokens that are accepted; empty for none
     */
    record Http(Optional<Endpoint> listen, Optional<Path> tokens, List<URI> webhooks) {
        Http {
            if (tokens.isEmpty()) {
                listen.ifPresent(where ->
                        where.requireLoopback("--http-listen", "sees the blocks of all tenants", "give --api-tokens FILE, or listen on 127.0.0.1"));
            }
        }
    }

    /** From the values of {@link PublishOptions}. */
    public static PublishConfig of(OptionValues values) {
        Set<Tier> tiers = EnumSet.of(Tier.HOST, Tier.DISK, Tier.STORE);
        if (values.constant(PublishOptions.TIERS, PublishOptions.Tiers.class) == PublishOptions.Tiers.ALL) {
            tiers.add(Tier.DEVICE);
        }
        BatchForm form = new BatchForm(values.constant(PublishOptions.FORM, PublishOptions.Form.class) == PublishOptions.Form.MAPS,
                values.constant(PublishOptions.KEYS, PublishOptions.Keys.class) == PublishOptions.Keys.NUMBERS,
                values.number(PublishOptions.BLOCK_TOKENS));
        return new PublishConfig(LogOptions.kafka(values), LogOptions.topics(values), LogOptions.registry(values, RegistryLimits.DEFAULTS),
                values.text(PublishOptions.EVENTS), values.text(PublishOptions.REPLAY), values.list(PublishOptions.CONNECT),
                new Content(tiers, new ReplayAnswer.Shape(form, values.flag(PublishOptions.REPLAY_TOPICS))),
                new Http(values.optional(PublishOptions.HTTP_LISTEN).map(Endpoint::parse), values.findPath(PublishOptions.API_TOKENS),
                        values.list(PublishOptions.WEBHOOK).stream().map(URI::create).toList()),
                values.optional(PublishOptions.STATUS_LISTEN).map(Endpoint::parse), TlsOptions.tls(values));
    }
}
