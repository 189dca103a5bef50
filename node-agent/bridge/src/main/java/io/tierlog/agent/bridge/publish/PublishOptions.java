/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import io.tierlog.controller.http.Endpoint;
import io.tierlog.events.config.Bounds;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.Options;
import io.tierlog.events.config.TlsOptions;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;

/** The options of a publisher, each declared here and nowhere else. {@link PublishConfig} is made of their values. Static and without state. */
public final class PublishOptions {
    public static final String EVENTS = "events";
    public static final String REPLAY = "replay";
    public static final String CONNECT = "connect";
    public static final String FORM = "form";
    public static final String KEYS = "keys";
    public static final String TIERS = "tiers";
    public static final String BLOCK_TOKENS = "block.tokens";
    public static final String REPLAY_TOPICS = "replay.topics";
    public static final String HTTP_LISTEN = "http.listen";
    public static final String WEBHOOK = "webhook";
    public static final String API_TOKENS = "api.tokens";
    public static final String STATUS_LISTEN = "publish.status.listen";

    private static final Bounds ADDRESS = Bounds.pattern("tcp://HOST:PORT", Pattern.compile("tcp://\\S+:(\\d{1,5}|\\*)"));

    /** How events are written. */
    enum Form {
        /** As vLLM does from 0.24 on. */
        MAPS,
        /** As vLLM does before, and SGLang. */
        ARRAYS
    }

    /** How keys are written. */
    enum Keys {
        /** 8 bytes as a number, more as they are. */
        WHOLE,
        /** The low 64 bits as a number. */
        NUMBERS
    }

    /** Which tiers are published. */
    enum Tiers {
        /** Host, disk and store: engines publish their devices themselves. */
        LOWER,
        /** The device too. */
        ALL
    }

    private PublishOptions() {}

    /** All options, those of the log among them. */
    public static Options options() {
        return TlsOptions.declare(LogOptions.declare(new Options()
                .group("Events", Importance.HIGH)
                .option(EVENTS, ConfigDef.Type.STRING, "tcp://127.0.0.1:5557", ADDRESS, "ADDRESS",
                        "Address of the events of partition 0; further partitions have the ports after it, or any with the port *.")
                .option(REPLAY, ConfigDef.Type.STRING, "tcp://127.0.0.1:6557", ADDRESS, "ADDRESS", "The same for replays.")
                .list(CONNECT, ADDRESS, "ADDRESS", "Addresses of subscribers that publishers connect to, several with commas.")
                .text(HTTP_LISTEN, Bounds.form("HOST:PORT", Endpoint::parse), "HOST:PORT",
                        "Address of the same batches as server-sent events (default: none).")
                .list(WEBHOOK, Bounds.URL, "URL", "URLs that batches are posted to, several with commas.")
                .text(API_TOKENS, Bounds.FILE, "FILE", "File of the tokens that are accepted over HTTP, as that of a directory"
                        + " (default: none, then it serves this machine alone).")
                .text(STATUS_LISTEN, Bounds.form("HOST:PORT", Endpoint::parse), "HOST:PORT",
                        "Address of /metrics and /health, port 0 for any free one (default: none).")
                .option(FORM, ConfigDef.Type.STRING, Form.MAPS.name(), Bounds.oneOf(Form.class), "FORM", "Form of the events: MAPS or ARRAYS.")
                .option(KEYS, ConfigDef.Type.STRING, Keys.WHOLE.name(), Bounds.oneOf(Keys.class), "FORM",
                        "Keys longer than 8 bytes: WHOLE, or NUMBERS for their low 64 bits.")
                .option(TIERS, ConfigDef.Type.STRING, Tiers.LOWER.name(), Bounds.oneOf(Tiers.class), "TIERS",
                        "LOWER for host, disk and store; ALL with the device.")
                .number(BLOCK_TOKENS, 0, 0, 65_536, "N", "Tokens of a block, for subscribers; 0 when it is not known.")
                .on(REPLAY_TOPICS, "Send the topic in replays, as vLLM does from 0.26 on.")));
    }
}
