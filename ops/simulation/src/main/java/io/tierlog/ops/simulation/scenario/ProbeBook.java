/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.PromotionAnswer;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.PromotionAnswered;
import io.tierlog.schemas.event.Event;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The answers to probes. The first answer to a probe counts; a repeated decision gives the same one. For one thread.
 */
final class ProbeBook implements World.Watcher {
    private record Answered(long offset, List<PromotionAnswer> answers) {}

    private final Map<String, Answered> byProbe = new LinkedHashMap<>();

    @Override
    public void decided(int partition, long offset, Event event, DecideResult decided) {
        for (Fact fact : decided.facts()) {
            if (fact instanceof PromotionAnswered answered) {
                byProbe.merge(answered.probe(), new Answered(offset, answered.answers()), (a, b) -> b.offset() <= a.offset() ? b : a);
            }
        }
    }

    /** Blocks by reply, over all probes of one call. */
    ObjectNode replies(String id) {
        Map<String, Integer> counts = new TreeMap<>();
        byProbe.forEach((probe, one) -> {
            if (probe.equals(id) || probe.startsWith(id + "/")) {
                one.answers().forEach(answer -> counts.merge(answer.reply().name(), answer.blocks().size(), Integer::sum));
            }
        });
        ObjectNode replies = JsonNodeFactory.instance.objectNode();
        counts.forEach(replies::put);
        return replies;
    }
}
