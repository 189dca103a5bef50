/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.traces;

import io.tierlog.events.config.Bounds;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import java.net.URI;
import java.util.Optional;
import org.apache.kafka.common.config.ConfigDef.Importance;

/** The option of traces, for every program that makes spans. Static and without state. */
public final class TraceOptions {
    public static final String OTLP_ENDPOINT = "otlp.endpoint";

    private static final String PATH = "/v1/traces";

    private TraceOptions() {}

    /** Declares the option beside those of a program. */
    public static Options declare(Options options) {
        return options.group("Traces", Importance.LOW)
                .text(OTLP_ENDPOINT, Bounds.form("http or https URL", TraceOptions::endpoint), "URL",
                        "Collector that spans go to, by OTLP over HTTP: http://HOST:4318 (default: no spans). Only requests whose caller asks for"
                                + " it by the W3C sampled flag are traced.");
    }

    /** The collector's URL for spans; empty when traces are off. */
    public static Optional<URI> endpoint(OptionValues values) {
        return values.optional(OTLP_ENDPOINT).map(TraceOptions::endpoint);
    }

    /**
     * The URL that spans are posted to: without a path, {@code /v1/traces} as OTLP has it.
     *
     * @throws IllegalArgumentException for what is no http or https URL with a host, and for one with a user name, which would be logged
     */
    public static URI endpoint(String text) {
        URI uri;
        try {
            uri = URI.create(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("'" + text + "' is not a URL; give http://HOST:PORT, for example http://localhost:4318", e);
        }
        boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
        if (!http || uri.getHost() == null || uri.getUserInfo() != null || uri.getQuery() != null || uri.getFragment() != null) {
            throw new IllegalArgumentException(
                    "it is not an http or https URL of host, port and path alone; give http://HOST:PORT, for example http://localhost:4318");
        }
        String path = uri.getPath();
        return path == null || path.isEmpty() || path.equals("/") ? uri.resolve(PATH) : uri;
    }
}
