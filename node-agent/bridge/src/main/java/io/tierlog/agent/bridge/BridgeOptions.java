/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import io.tierlog.agent.bridge.source.DnsName;
import io.tierlog.agent.bridge.source.SourceSpec;
import io.tierlog.agent.bridge.view.NamespaceRule;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.events.config.Bounds;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.Options;
import io.tierlog.events.config.TlsOptions;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;

/** The options of a bridge, each declared here and nowhere else. {@link BridgeConfig} is made of their values. Static and without state. */
public final class BridgeOptions {
    public static final String SOURCE = "source";
    public static final String SOURCE_NAMES = "source.names";
    public static final String SOURCES = "sources";
    public static final String NAMESPACE = "namespace";
    public static final String SILENCE = "silence";
    public static final String UNKNOWN_FOR = "unknown.for";
    public static final String ENGINE_TIMEOUT = "engine.timeout";
    public static final String IDLE_TIMEOUT = "idle.timeout";
    public static final String HINT_TIMEOUT = "hint.timeout";
    public static final String LMCACHE_TOPIC = "lmcache.topic";
    public static final String LMCACHE_SERVERS = "lmcache.bootstrap.servers";
    public static final String LMCACHE_CLIENT_CONFIG = "lmcache.client.config";
    public static final String LMCACHE_LISTEN = "lmcache.listen";
    public static final String API_TOKENS = "api.tokens";
    public static final String API_INSECURE = "api.insecure";
    public static final String BLOCKS = "blocks";
    public static final String STATUS_LISTEN = "bridge.status.listen";

    private static final int DAY = 86_400;
    private static final Pattern TOPIC = Pattern.compile("[A-Za-z0-9._-]{1,249}");

    private BridgeOptions() {}

    /** All options, those of the log among them. */
    public static Options options() {
        return TlsOptions.declare(LogOptions.declare(new Options()
                .group("Sources", Importance.HIGH)
                .list(SOURCE, Bounds.form("source of events", SourceSpec::parse), "SOURCE",
                        "Where engines publish, several with commas, each with its keys: docs/bridge.md.")
                .list(SOURCE_NAMES, Bounds.form("source of events", DnsName::parse), "SOURCE",
                        "The same with a name as its host: each address of that name is a source, and {address} in replay= stands for it.")
                .text(SOURCES, Bounds.FILE, "FILE", "A file with a source on each line, which is watched.")
                .option(NAMESPACE, ConfigDef.Type.STRING, NamespaceRule.MODEL.template(), Bounds.form("template", NamespaceRule::new), "TEMPLATE",
                        "Namespace of the blocks, of {model}, {engine}, {block_size}, {group}, {lora}, {salt}, {kv_rank}.")
                .group("LMCache", Importance.HIGH)
                .list(LMCACHE_TOPIC, Bounds.pattern("name of a topic", TOPIC), "TOPIC",
                        "Kafka topics to which LMCache writes its events (lmcache-cache-events by its default), several with commas. They are read"
                                + " from their start with each start of the bridge.")
                .text(LMCACHE_SERVERS, Bounds.SERVERS, "HOST:PORT", "Kafka brokers of these topics (default: those of --bootstrap-servers).")
                .text(LMCACHE_CLIENT_CONFIG, Bounds.FILE, "FILE", "File of further Kafka client properties for them"
                        + " (default: that of --client-config for its own brokers, none for others).")
                .text(LMCACHE_LISTEN, Bounds.form("HOST:PORT", Endpoint::parse), "HOST:PORT",
                        "Address of POST /events, to which LMCache posts its events, port 0 for any free one (default: none).")
                .text(API_TOKENS, Bounds.FILE, "FILE", "File of the tokens that are accepted there, as that of a controller; an operator's may post"
                        + " (default: none, then it serves this machine alone).")
                .off(API_INSECURE, "Let other machines post without tokens.")
                .group("Time", Importance.MEDIUM)
                .number(SILENCE, 5, 1, DAY, "SECONDS", "Time without a batch after which an engine is asked whether the last ones were lost.")
                .number(UNKNOWN_FOR, 600, 1, DAY, "SECONDS",
                        "Time for which an engine's blocks are unknown after batches were lost for good.")
                .number(ENGINE_TIMEOUT, 60, 1, DAY, "SECONDS", "Time after which an engine counts as gone when its connection is lost.")
                .number(IDLE_TIMEOUT, 600, 1, DAY, "SECONDS",
                        "The same for an engine that connects to this bridge, and an LMCache, that send nothing.")
                .number(HINT_TIMEOUT, 600, 1, DAY, "SECONDS",
                        "Time after which a block whose removal the engine does not publish counts no longer unless it is named again.")
                .group("Bounds and status", Importance.MEDIUM)
                .number(BLOCKS, 1_000_000, 1_000, 100_000_000, "N", "Most blocks of one engine instance; further ones are UNKNOWN.")
                .text(STATUS_LISTEN, Bounds.form("HOST:PORT", Endpoint::parse), "HOST:PORT",
                        "Address of /metrics and /health, port 0 for any free one (default: none).")));
    }
}
