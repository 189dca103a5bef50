/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.bridge.view.BlockBook;
import io.tierlog.agent.bridge.view.View;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who has the name of a node. No session here is started, so no broker is needed. */
class NodeSessionsTest {
    private final EventWriter writer = new EventWriter(
            new EventWriter.Log(KafkaAccess.of("127.0.0.1:9"), Topics.DEFAULT, 1, new Codec(Schemas.bundled()), "p"), failure -> {});

    @AfterEach
    void close() {
        writer.close();
    }

    private static Optional<NodeSession> open(NodeSessions sessions, String node) {
        return sessions.open(node, Map.of(), new NodeSession.Content() {
            @Override
            public View view() {
                return new View(List.of(), "", -1, -1);
            }

            @Override
            public void blocks(Consumer<BlockBook.Change> visit) {
                // None.
            }
        });
    }

    @Test
    void aNameIsTakenBeforeItsSessionBegins() {
        NodeSessions sessions = new NodeSessions(writer, "p", 10);
        NodeSession first = open(sessions, "a").orElseThrow();
        assertEquals(Optional.empty(), open(sessions, "a"));
        first.stop();
        assertEquals(Optional.of(first), open(sessions, "a"), "the next publisher of that name");
        assertEquals(Optional.empty(), open(sessions, "a"));
    }

    @Test
    void nodesThatAreGoneMakeSpace() {
        NodeSessions sessions = new NodeSessions(writer, "p", 2);
        NodeSession first = open(sessions, "a").orElseThrow();
        assertTrue(open(sessions, "b").isPresent());
        assertEquals(Optional.empty(), open(sessions, "c"));
        first.stop();
        assertTrue(open(sessions, "c").isPresent());
        assertFalse(sessions.contains("node/a"));
        assertTrue(sessions.contains("node/b"));
    }
}
