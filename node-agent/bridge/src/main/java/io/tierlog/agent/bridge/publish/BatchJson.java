/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.publish;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.agent.bridge.publish.BatchLog.Numbered;

/** A batch as JSON, for subscribers without ZeroMQ. Keys are whole, in hexadecimal digits. Without state. */
final class BatchJson {
    private BatchJson() {}

    static ObjectNode of(Numbered numbered) {
        PlacementBatch batch = numbered.batch();
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("stream", numbered.partition());
        json.put("seq", numbered.seq());
        json.put("time_ms", batch.timeMs());
        json.put("node", batch.instance());
        json.put("namespace", batch.namespace());
        ArrayNode events = json.putArray("events");
        for (PlacementBatch.Change change : batch.changes()) {
            ObjectNode event = events.addObject();
            event.put("type", change.stored() ? "BlockStored" : "BlockRemoved");
            event.put("tier", change.tier().name());
            if (change.stored() && !change.parent().isEmpty()) {
                event.put("parent", change.parent().hex());
            }
            ArrayNode keys = event.putArray("keys");
            change.keys().forEach(key -> keys.add(key.hex()));
        }
        return json;
    }
}
