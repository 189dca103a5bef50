/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.Codec;
import io.tierlog.events.PatientReader;
import io.tierlog.events.Reading;
import io.tierlog.events.Schemas;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.Tick;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** A reader whose registry does not answer at first, or at all. */
class PatientReaderTest {
    private static final RegistryLimits QUICK = new RegistryLimits(5_000, 5_000, 10_000, 2, 1, 1, 1 << 16, 1, 0);
    private static final ScriptedServer.Step DOWN = ScriptedServer.error(503, 50001, "starting");
    private static final Tick TICK = new Tick(new Envelope("clock/0", "clock/0", 0, 1, 0, 5, null, null, null), 5);
    private static final byte[] BYTES = new Codec(Schemas.bundled()).encode("t", TICK);

    private final List<String> waits = new CopyOnWriteArrayList<>();
    private Runnable closing = () -> {};

    /** Reads the record with a registry that answers so; {@code meanwhile} runs in each wait. */
    private Optional<Reading<Event>> read(Runnable meanwhile, ScriptedServer.Step... steps) throws IOException {
        try (ScriptedServer server = new ScriptedServer(steps);
                RegistryClient client = new RegistryClient(new RegistryConfig(List.of(URI.create(server.baseUrl())), Credentials.NONE, QUICK));
                PatientReader<Event> reader = new PatientReader<>(new Codec(client).reader(Event.class), new PatientReader.Listener() {
                    @Override
                    public void waits(String why) {
                        waits.add(why);
                        meanwhile.run();
                    }

                    @Override
                    public void goesOn() {
                        waits.add(Thread.interrupted() ? "on, interrupted" : "on");
                    }
                })) {
            closing = reader::close;
            return reader.read(BYTES);
        }
    }

    @Test
    void aRecordIsReadOnceTheRegistryAnswers() throws IOException {
        assertEquals(Optional.of(new Reading.Decoded<Event>(TICK)),
                read(() -> {}, DOWN, DOWN, DOWN, DOWN, DOWN, ScriptedServer.schema(Tick.SCHEMA.toString())));
        assertEquals(2, waits.size(), waits::toString);
        assertTrue(waits.getFirst().startsWith("waiting for the schema registry: ") && waits.getFirst().contains("starting"), waits::toString);
        assertEquals("on", waits.getLast());
    }

    @Test
    void withoutAWaitTheListenerIsNotCalled() throws IOException {
        assertEquals(Optional.of(new Reading.Decoded<Event>(TICK)), read(() -> {}, ScriptedServer.schema(Tick.SCHEMA.toString())));
        assertEquals(List.of(), waits);
    }

    @Test
    void closingEndsAWait() throws IOException {
        assertEquals(Optional.empty(), read(() -> closing.run(), DOWN));
        assertEquals("on", waits.getLast());
    }

    @Test
    void anInterruptEndsAWaitAndKeepsItsFlag() throws IOException {
        assertEquals(Optional.empty(), read(() -> Thread.currentThread().interrupt(), DOWN));
        assertEquals("on, interrupted", waits.getLast());
    }
}
