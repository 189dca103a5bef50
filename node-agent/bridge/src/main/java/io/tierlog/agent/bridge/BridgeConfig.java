/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import io.tierlog.agent.bridge.lmcache.CacheFeeds;
import io.tierlog.agent.bridge.source.DnsName;
import io.tierlog.agent.bridge.source.SourceRules;
import io.tierlog.agent.bridge.source.SourceSpec;
import io.tierlog.agent.bridge.view.NamespaceRule;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.TlsOptions;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.events.topic.Topics;
import io.tierlog.tls.Tls;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a bridge is started with, checked. Immutable.
 *
 * @param sources that are always there
 * @param names whose addresses are sources too
 * @param file of further sources; empty for none
 * @param lmcache where LMCache's events come from
 * @param status address of metrics and health; empty for none
 * @param tls of its listeners
 */
public record BridgeConfig(KafkaAccess access, Topics topics, Optional<RegistryConfig> registry, List<SourceSpec> sources, List<DnsName> names,
        Optional<Path> file, CacheFeeds lmcache, SourceRules rules, Optional<Endpoint> status, Tls tls) {
    private static final long SECOND_MS = 1_000;

    /**
     * From the values of {@link BridgeOptions}.
     *
     * @throws IllegalArgumentException when there is no source, or one cannot be read
     */
    public static BridgeConfig of(OptionValues values) {
        List<SourceSpec> sources = new ArrayList<>();
        values.list(BridgeOptions.SOURCE).forEach(line -> sources.addAll(SourceSpec.parse(line)));
        Optional<Path> file = values.findPath(BridgeOptions.SOURCES);
        List<DnsName> names = values.list(BridgeOptions.SOURCE_NAMES).stream().map(DnsName::parse).toList();
        CacheFeeds lmcache = lmcache(values);
        if (sources.isEmpty() && names.isEmpty() && file.isEmpty() && lmcache.isEmpty()) {
            throw new IllegalArgumentException("there is no source of events: give --source tcp://HOST:PORT, --source-names tcp://NAME:PORT,"
                    + " --sources FILE, --lmcache-topic TOPIC, or --lmcache-listen HOST:PORT");
        }
        SourceRules rules = new SourceRules(
                new NamespaceRule(values.text(BridgeOptions.NAMESPACE)),
                values.number(BridgeOptions.SILENCE) * SECOND_MS,
                values.number(BridgeOptions.UNKNOWN_FOR) * SECOND_MS,
                values.number(BridgeOptions.ENGINE_TIMEOUT) * SECOND_MS,
                values.number(BridgeOptions.IDLE_TIMEOUT) * SECOND_MS,
                values.number(BridgeOptions.HINT_TIMEOUT) * SECOND_MS,
                values.number(BridgeOptions.BLOCKS));
        return new BridgeConfig(LogOptions.kafka(values), LogOptions.topics(values), LogOptions.registry(values, RegistryLimits.DEFAULTS),
                List.copyOf(sources), names, file, lmcache, rules, values.optional(BridgeOptions.STATUS_LISTEN).map(Endpoint::parse),
                TlsOptions.tls(values));
    }

    private static CacheFeeds lmcache(OptionValues values) {
        KafkaAccess own = LogOptions.kafka(values);
        boolean other = values.has(BridgeOptions.LMCACHE_SERVERS);
        Map<String, String> properties = values.has(BridgeOptions.LMCACHE_CLIENT_CONFIG)
                ? LogOptions.properties(values, BridgeOptions.LMCACHE_CLIENT_CONFIG) : other ? Map.of() : own.properties();
        KafkaAccess access = new KafkaAccess(other ? values.text(BridgeOptions.LMCACHE_SERVERS) : own.bootstrapServers(), properties, own.timeout());
        return new CacheFeeds(values.list(BridgeOptions.LMCACHE_TOPIC), access,
                values.optional(BridgeOptions.LMCACHE_LISTEN).map(listen -> new CacheFeeds.Http(Endpoint.parse(listen),
                        values.findPath(BridgeOptions.API_TOKENS), values.flag(BridgeOptions.API_INSECURE))));
    }
}
