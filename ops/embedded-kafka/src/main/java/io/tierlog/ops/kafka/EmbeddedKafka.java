/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.kafka;

import io.tierlog.ops.kafka.EmbeddedKafkaException.StartFailed;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import kafka.server.BrokerServer;
import kafka.server.ControllerServer;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.server.Server;
import kafka.server.SharedServer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.bootstrap.BootstrapDirectory;
import org.apache.kafka.metadata.properties.MetaPropertiesEnsemble;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One Kafka broker and KRaft controller inside this process, from Kafka's ordinary server jars.
 *
 * <p>{@link #start} returns when clients can connect; {@link #close} gives back the port, the threads and the directory. The log
 * stays, and a later start on the same directory finds it. Safe for use by several threads.
 *
 * <p>It puts together what {@code KafkaRaftServer} does, for two reasons: sockets are bound beforehand ({@link ListenSockets}) and
 * a fatal fault does not end the process ({@link FaultLog}). Price paid: these are Kafka's inner classes, without a promise to
 * stay; and when the disk under the log fails, Kafka still halts the process itself.
 */
public final class EmbeddedKafka implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedKafka.class);
    private static final Duration SHUTDOWN = Duration.ofSeconds(3);

    private final EmbeddedKafkaConfig config;
    private final DataDirectory data;
    private final ListenSockets sockets;
    private final FaultLog faults = new FaultLog();
    private final ControllerServer controller;
    private final BrokerServer broker;
    private final AtomicBoolean closed = new AtomicBoolean();

    private EmbeddedKafka(EmbeddedKafkaConfig config, DataDirectory data, ListenSockets sockets) throws Exception {
        this.config = config;
        this.data = data;
        this.sockets = sockets;
        String log = data.log().toString();
        Properties properties = BrokerProperties.of(config, data.log(), sockets.port(), sockets.controllerPort());
        KafkaConfig kafka = new KafkaConfig(properties, false);
        MetaPropertiesEnsemble meta =
                new MetaPropertiesEnsemble.Loader().addMetadataLogDir(log).addLogDirs(List.of(log)).load();
        InetSocketAddress voter = new InetSocketAddress(config.host(), sockets.controllerPort());
        SharedServer shared = new SharedServer(
                kafka,
                meta,
                Time.SYSTEM,
                Server.initializeMetrics(kafka, Time.SYSTEM, meta.clusterId().orElseThrow()),
                CompletableFuture.completedFuture(Map.of(BrokerProperties.NODE_ID, voter)),
                List.of(),
                faults,
                sockets);
        controller = new ControllerServer(shared, KafkaRaftServer.configSchema(), new BootstrapDirectory(log).read());
        broker = new BrokerServer(shared);
    }

    /**
     * Starts a broker and waits until it serves.
     *
     * @throws EmbeddedKafkaException when the port is in use, the directory is not ours, or Kafka refuses; nothing is left running
     */
    public static EmbeddedKafka start(EmbeddedKafkaConfig config) {
        ListenSockets sockets = ListenSockets.bind(config.host(), config.port());
        DataDirectory data;
        try {
            data = DataDirectory.claim(config.dataDirectory());
        } catch (RuntimeException failure) {
            sockets.close();
            throw failure;
        }
        EmbeddedKafka kafka;
        try {
            kafka = new EmbeddedKafka(config, data, sockets);
        } catch (Exception failure) {
            sockets.close();
            data.close();
            throw refused(config, failure);
        }
        try {
            // The controller first: the broker registers with it.
            kafka.controller.startup();
            kafka.broker.startup();
            return kafka;
        } catch (Throwable failure) {
            kafka.close();
            throw refused(config, failure);
        }
    }

    /** HOST:PORT for clients. */
    public String bootstrapServers() {
        return config.host() + ":" + sockets.port();
    }

    /** The port clients connect to. */
    public int port() {
        return sockets.port();
    }

    /** Completes if the broker meets a fault it cannot live with; it should then be closed. */
    public CompletionStage<RuntimeException> fatalFault() {
        return faults.fatal();
    }

    /** Stops the broker, then the controller, and gives everything back; what goes wrong is logged. Closing twice is nothing. */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        step("broker", () -> broker.shutdown(SHUTDOWN));
        step("controller", controller::shutdown);
        step("sockets", sockets::close);
        step("data directory", data::close);
    }

    private static void step(String what, Runnable stop) {
        try {
            stop.run();
        } catch (RuntimeException failure) {
            LOG.warn("the {} of the embedded broker did not stop cleanly", what, failure);
        }
    }

    private static StartFailed refused(EmbeddedKafkaConfig config, Throwable failure) {
        return new StartFailed(
                "the embedded broker did not start on " + config.dataDirectory() + ": " + failure.getMessage(),
                "run again with --verbose for Kafka's own words; a broken log is left by choosing another data directory",
                failure);
    }
}
