/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.controller.streams.TestLog;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.tls.Tls;

/** A log, a scripted controller with the rows of {@link World}, and an operator API beside it. */
final class ApiUnderTest implements AutoCloseable {
    final TestLog log;
    final ScriptedController controller;
    final OperatorApi api;

    ApiUnderTest(EmbeddedKafka broker, int partitions, ApiConfig config) throws Exception {
        log = new TestLog(broker, partitions);
        controller = new ScriptedController(log);
        controller.commit(() -> World.begin(controller, partitions));
        api = OperatorApi.start(controller.access, config, Tls.NONE, new PrometheusRegistry());
    }

    @Override
    public void close() {
        api.close();
        controller.close();
        log.close();
    }
}
