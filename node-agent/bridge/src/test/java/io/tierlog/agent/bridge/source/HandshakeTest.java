/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.bridge.log.EventWriter;
import io.tierlog.agent.bridge.log.NodeSessions;
import io.tierlog.agent.bridge.view.BridgeCounts;
import io.tierlog.agent.bridge.view.NamespaceRule;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.Test;
import org.zeromq.ZContext;

/** A connection whose handshake never ends is opened again soon: until then all that an engine publishes is lost. */
class HandshakeTest {
    private static final int SOON_MS = 10_000;

    private static ServerSocket silent() throws Exception {
        ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        server.setSoTimeout(SOON_MS);
        return server;
    }

    private static void assertOpenedTwice(ServerSocket server) throws Exception {
        try (Socket first = server.accept(); Socket second = server.accept()) {
            assertFalse(first.equals(second));
        }
    }

    @Test
    void ofReplays() throws Exception {
        try (ServerSocket server = silent();
                ZContext context = new ZContext();
                ReplayClient client = new ReplayClient(context, "tcp://127.0.0.1:" + server.getLocalPort())) {
            assertTrue(client.ask(0));
            assertOpenedTwice(server);
        }
    }

    @Test
    void ofEvents() throws Exception {
        EventWriter.Log log = new EventWriter.Log(KafkaAccess.of("127.0.0.1:9"), Topics.DEFAULT, 1, new Codec(Schemas.bundled()), "p");
        try (ServerSocket server = silent(); ZContext context = new ZContext(); EventWriter writer = new EventWriter(log, failure -> {})) {
            SourceRules rules = new SourceRules(NamespaceRule.MODEL, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000);
            SourceParts parts = new SourceParts(rules, new NodeSessions(writer, "p", 1), writer, new BridgeCounts());
            SourceSpec spec = SourceSpec.parse("tcp://127.0.0.1:" + server.getLocalPort()).getFirst();
            try (Source source = new Source(spec, parts, context)) {
                assertTrue(source.publishers() == 0);
                assertOpenedTwice(server);
            }
        }
    }
}
