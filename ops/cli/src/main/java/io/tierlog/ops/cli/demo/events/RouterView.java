/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo.events;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;

/**
 * What a router saw in a run. Immutable.
 *
 * @param served requests of each engine
 * @param followed requests that went to the engine with the longest prefix
 * @param looks at single prompts
 * @param prompts that were compared at the end with what the engines hold
 * @param wrong of them: the directory claims what an engine does not hold, or denies what it does
 * @param unknown of them: part of it was UNKNOWN
 */
public record RouterView(Map<String, Long> served, long followed, List<PromptSeen> looks, int prompts, int wrong, int unknown) {
    /** One object, names in snake case. */
    public ObjectNode toJson() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        ObjectNode byEngine = json.putObject("served");
        served.forEach(byEngine::put);
        json.put("followed", followed).put("prompts_compared", prompts).put("wrong", wrong).put("unknown", unknown);
        ArrayNode all = json.putArray("looks");
        looks.forEach(look -> all.add(look.toJson()));
        return json;
    }
}
