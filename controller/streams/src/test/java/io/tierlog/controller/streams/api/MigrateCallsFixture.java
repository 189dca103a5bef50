/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.grpc.ServerServiceDefinition;
import io.tierlog.controller.http.Tokens;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The service of MigrateCache without sockets and a broker. What it takes as valid becomes a record of the log, and is not decided in time: none is
 * given.
 */
public final class MigrateCallsFixture implements AutoCloseable {
    private static final ApiLimits LIMITS = new ApiLimits(1 << 20, 8, 128, 64, 4_096, 256, 1_000, 1_000, 1_000, 1_000, 0, 0);

    private final MockProducer<byte[], byte[]> producer =
            new MockProducer<>(true, null, new ByteArraySerializer(), new ByteArraySerializer());
    private final OperatorLog writer;
    private final MigrateService service;

    public MigrateCallsFixture() {
        LogAccess log = new LogAccess(new KafkaAccess("127.0.0.1:1", Map.of(), Duration.ofSeconds(1)), Topics.DEFAULT,
                new Codec(Schemas.bundled()), 1, "changelog");
        CommittedState view = new CommittedState(log, LIMITS);
        view.ready();
        writer = new OperatorLog(log, producer);
        service = new MigrateService(Tokens.scoped(Optional.empty()), view, new OperatorRequests(view, writer, LIMITS), LIMITS);
    }

    /** The service. */
    public ServerServiceDefinition service() {
        return service.bindService();
    }

    /** Records that were appended since the last call of this. */
    public int appended() {
        int appended = producer.history().size();
        producer.clear();
        return appended;
    }

    @Override
    public void close() {
        writer.close();
    }
}
