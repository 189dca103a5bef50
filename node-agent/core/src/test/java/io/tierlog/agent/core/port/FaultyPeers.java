/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.PeerUnitEnded;
import io.tierlog.agent.core.api.AgentInput.PeersFound;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/**
 * Faults on the way back from another implementation: it intercepts that one's answers. Of holders some are lost; of blocks the last fail, as
 * when a holder dies in the middle. One thread.
 */
public final class FaultyPeers implements Consumer<AgentInput> {
    private final Random random;
    private final Consumer<AgentInput> completions;

    /** Faults of a seed. */
    public FaultyPeers(long seed, Consumer<AgentInput> completions) {
        this.random = new Random(seed);
        this.completions = completions;
    }

    @Override
    public void accept(AgentInput input) {
        completions.accept(switch (input) {
            case PeersFound found -> new PeersFound(found.unit(), found.holders().stream().filter(holder -> random.nextBoolean()).toList());
            case PeerUnitEnded unit -> new PeerUnitEnded(unit.unit(), cut(unit.results()));
            default -> input;
        });
    }

    private List<UnitResult> cut(List<UnitResult> results) {
        int arrive = random.nextInt(results.size() + 1);
        List<UnitResult> cut = new ArrayList<>(results.subList(0, arrive));
        while (cut.size() < results.size()) {
            cut.add(new UnitResult(BlockStatus.FAILED, OperationReason.IO, 0));
        }
        return cut;
    }
}
