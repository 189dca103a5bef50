/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.command.GrantPeerRead;
import io.tierlog.schemas.event.PeerReadRequested;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Node b requests a peer read from node a, under a name that b may give, or not. */
class PeerReadNameTest {
    private final World w = new World();
    private final Agent a = new Agent("a", "a-1", 31, 31);
    private final Agent b = new Agent("b", "b-1", 31);

    PeerReadNameTest() {
        w.register(a);
        w.register(b);
        w.warm(a, "r", Agent.path("p", 4), 0);
    }

    private DecideResult ask(String grant) {
        Envelope envelope = new Envelope("node/a", "agent/b/b-1", b.incarnation, 1, 0, 0, null, null, null);
        return w.input(new PeerReadRequested(envelope, grant, "b", Agent.NAMESPACE, Agent.blocks(Agent.path("p", 4), 0, 4)));
    }

    /** A lease of node a under that name would be overwritten, and its blocks kept for ever. */
    @ParameterizedTest
    @ValueSource(strings = {"node/a@31.0", "node/bb@70.0", "node/b", "b@70.0", "@70.0", "node/b@7@70.0"})
    void aGrantHasTheNameOfAnOperationOfItsAsker(String grant) {
        World.assertRefused(RefusalReason.OVER_LIMIT, ask(grant));
        assertEquals(List.of(), w.last.commands());
    }

    @Test
    void blocksAreLeasedUnderTheName() {
        ask("node/b@70.0");
        assertEquals("node/b@70.0", w.command(GrantPeerRead.class).grant());
    }
}
