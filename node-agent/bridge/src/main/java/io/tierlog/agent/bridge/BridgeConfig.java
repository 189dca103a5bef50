/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

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
import java.util.Optional;

/**
 * What a bridge is started with, checked. Immutable.
 *
 * @param sources that are always there
 * @param names whose addresses are sources too
 * @param file of further sources; empty for none
 * @param status address of metrics and health; empty for none
 * @param tls of its listener
 */
public record BridgeConfig(KafkaAccess access, Topics topics, Optional<RegistryConfig> registry, List<SourceSpec> sources, List<DnsName> names,
        Optional<Path> file, SourceRules rules, Optional<Endpoint> status, Tls tls) {
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
        if (sources.isEmpty() && names.isEmpty() && file.isEmpty()) {
            throw new IllegalArgumentException(
                    "there is no source of events: give --source tcp://HOST:PORT, --source-names tcp://NAME:PORT, or --sources FILE");
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
                List.copyOf(sources), names, file, rules, values.optional(BridgeOptions.STATUS_LISTEN).map(Endpoint::parse),
                TlsOptions.tls(values));
    }
}
