/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.Locale;

/** Requests that an API has refused because of their callers. Static and without state. */
public final class TokenMetrics {
    private TokenMetrics() {}

    /** Shows the counts of {@code tokens}. */
    public static void register(Tokens tokens, PrometheusRegistry registry) {
        CounterWithCallback.builder()
                .name("tierlog_api_refused_total")
                .help("Requests that controllers and directories refused because of their token, by reason")
                .labelNames("reason")
                .callback(counter -> {
                    for (Tokens.Refused reason : Tokens.Refused.values()) {
                        counter.call((double) tokens.refused(reason), reason.name().toLowerCase(Locale.ROOT));
                    }
                })
                .register(registry);
    }
}
