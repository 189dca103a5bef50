/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import java.util.function.Function;

/**
 * Where the core's events go: the log. The sink stamps the envelope (sender, incarnation, sequence, checksum chain, time) and keeps the order per
 * aggregate. It is bounded: when {@link #congested} the core refuses new work, and finishes the work it has.
 */
public interface EventSink {
    /** Appends the event that {@code withEnvelope} makes for {@code aggregate}; {@code cause} is the id of the command or empty. */
    void append(String aggregate, String cause, Function<Envelope, Event> withEnvelope);

    /** True while the buffer is so full that new work must be refused. */
    boolean congested();
}
