/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.InputRefused;
import io.tierlog.schemas.decision.LeaseEnded;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.PeerReadRequested;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A request to read from a node comes again after that node has begun its next incarnation. */
class PeerReadIncarnationTest {
    private static final String GRANT = "node/b@70.0";
    private static final int REQUESTS = 3_500; // the cleanup of the ended incarnation takes more than three steps of 1,000 rows

    private final World w = new World();
    private final List<Bytes> p = Agent.path("p", 2);

    private static PeerReadRequested ask(long number, List<Bytes> path) {
        return new PeerReadRequested(new Envelope("node/a", "agent/b/b-1", 1, number, 0, 0, null, null, null), GRANT, "b",
                Agent.NAMESPACE, Agent.blocks(path, 0, path.size()));
    }

    private List<String> found() {
        List<String> found = new ArrayList<>();
        LogInvariants invariants = new LogInvariants(v -> found.add(v.invariant() + " " + v.detail()));
        int next = 0;
        for (Input input : w.log) {
            invariants.event(0, input.offset(), ((Input.Recorded) input).event());
            while (next < w.facts.size() && String.valueOf(w.facts.get(next).envelope().cause()).endsWith("@" + input.offset())) {
                invariants.decision(0, next, w.facts.get(next++));
            }
        }
        return found.stream().filter(text -> text.startsWith("I1 ")).toList();
    }

    @Test
    void aLeaseOfTheEndedIncarnationEndsBeforeItsNameIsUsedAgain() {
        Agent a = w.register(new Agent("a", "a-1", 31, 31));
        w.register(new Agent("b", "b-1", 31));
        w.warm(a, "r", p, 0);
        for (int i = 0; i < REQUESTS; i++) {
            w.input(a.submit("q" + i, Agent.path("q" + i, 1)).answered().event());
        }
        w.input(ask(1, p));
        w.input(a.stopping());
        Agent next = new Agent("a", "a-2", 31, 31);
        w.register(next);
        assertEquals(2, next.incarnation);
        List<PagedBlock> onDisk = Agent.blocks(p, 0, 2).stream().map(block -> new PagedBlock(block, -1, 7, 77)).toList();
        w.input(new BlocksRecovered(next.envelope(), Tier.DISK, Agent.NAMESPACE, onDisk, 0));

        w.input(ask(2, p));

        assertEquals(RefusalReason.REPEATED, w.fact(InputRefused.class).reason());
        for (int i = 0; i < 5; i++) {
            w.tick();
        }
        assertNull(w.tables.get(Rows.LEASES, new RowKey.Text("node/a", GRANT)));
        assertEquals(1, w.facts.stream().filter(LeaseEnded.class::isInstance).count());
        assertEquals(List.of(), found());
    }
}
