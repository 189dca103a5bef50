/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.tls.Tls;

/** The state of a process's TLS as metrics. Static and without state. */
final class TlsMetrics {
    private TlsMetrics() {}

    static void register(Tls tls, PrometheusRegistry registry) {
        GaugeWithCallback.builder()
                .name("tierlog_tls_files_unusable")
                .help("1 when the TLS files have changed and cannot be used, so that the last good ones stay in use")
                .callback(gauge -> gauge.call(tls.isStale() ? 1 : 0))
                .register(registry);
        GaugeWithCallback.builder()
                .name("tierlog_tls_certificate_expires_seconds")
                .help("Unix time at which the certificate of this process expires; 0 without TLS")
                .callback(gauge -> gauge.call(tls.expires().map(at -> (double) at.getEpochSecond()).orElse(0.0)))
                .register(registry);
    }
}
