/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.events.sign.RecordSigning;
import java.util.Optional;

/** What the check of record codes has found, as metrics; 0 without --record-keys. Static and without state. */
public final class RecordCodeMetrics {
    private RecordCodeMetrics() {}

    /** Shows the counts of {@code signing}. */
    public static void register(Optional<RecordSigning> signing, PrometheusRegistry registry) {
        CounterWithCallback.builder()
                .name("tierlog_records_unsigned_total")
                .help("Records without a code that --record-check WARN has taken: at 0 for long, REQUIRE refuses none")
                .callback(counter -> counter.call(signing.map(RecordSigning::unsigned).orElse(0L).doubleValue()))
                .register(registry);
        CounterWithCallback.builder()
                .name("tierlog_records_forged_total")
                .help("Records that were refused because of their code")
                .callback(counter -> counter.call(signing.map(RecordSigning::forged).orElse(0L).doubleValue()))
                .register(registry);
    }
}
