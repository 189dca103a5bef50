/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.oracle;

import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Message;
import java.util.LinkedHashMap;
import java.util.Map;

/** Every number of every sender is used for one event: it may come again, with the same content. Number 0 is that of senders without a count. */
public final class SenderOracle implements World.Watcher {
    private record Used(String aggregate, String sender, long sequence) {}

    private final Map<Used, Event> seen = new LinkedHashMap<>();

    @Override
    public void appended(int partition, long offset, Event event) {
        Envelope from = event.envelope();
        if (from.sequence() == 0 || event instanceof Message) {
            return; // a relay repeats what the controller has numbered
        }
        Event first = seen.putIfAbsent(new Used(from.aggregate(), from.sender(), from.sequence()), event);
        if (first != null && !first.equals(event)) {
            throw new IllegalStateException("effect, number: " + from.sender() + " uses number " + from.sequence() + " twice: " + first + " of "
                    + first.envelope() + " and " + event + " of " + from);
        }
    }
}
