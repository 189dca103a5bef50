/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import static io.tierlog.events.registry.Samples.PLACED;
import static io.tierlog.events.registry.Samples.subject;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

/** What every {@link SchemaIds} promises. */
interface SchemaIdsContract {
    /** The schemas that the tests use, for implementations that must know them before. */
    List<Schema> KNOWN = List.of(
            PLACED,
            Samples.small("One"),
            Samples.small("Two"),
            Samples.small("One", "{\"name\":\"a\",\"type\":\"int\"}", "{\"name\":\"b\",\"type\":\"int\",\"default\":3}"));

    /** An implementation that has been asked nothing yet, on the same ids as all others of this test. */
    SchemaIds fresh();

    @Test
    default void aRegisteredSchemaIsFoundByItsId() {
        int id = fresh().register(subject(PLACED), PLACED);

        assertTrue(id >= 0);
        assertEquals(PLACED, fresh().byId(id));
    }

    @Test
    default void registeringAgainGivesTheSameIdToEveryone() {
        SchemaIds first = fresh();
        int id = first.register(subject(PLACED), PLACED);

        assertEquals(id, first.register(subject(PLACED), PLACED));
        assertEquals(id, first.register(subject(PLACED), Samples.parse(Samples.PLACED_JSON)));
        assertEquals(id, fresh().register(subject(PLACED), PLACED));
    }

    @Test
    default void differentSchemasHaveDifferentIds() {
        SchemaIds ids = fresh();
        Schema one = Samples.small("One");
        Schema two = Samples.small("Two");

        assertNotEquals(ids.register(subject(one), one), ids.register(subject(two), two));
    }

    @Test
    default void aLaterVersionLeavesTheEarlierReadable() {
        SchemaIds ids = fresh();
        Schema earlier = KNOWN.get(1);
        Schema later = KNOWN.get(3);

        int earlierId = ids.register(subject(earlier), earlier);
        int laterId = ids.register(subject(later), later);

        assertEquals(earlier, fresh().byId(earlierId));
        assertEquals(later, fresh().byId(laterId));
    }

    @Test
    default void anIdThatWasNeverGivenIsUnknown() {
        UnknownSchemaIdException e = assertThrows(UnknownSchemaIdException.class, () -> fresh().byId(987_654_321));

        assertEquals(987_654_321, e.id());
    }

    @Test
    default void aRecordComesBackThroughTheWireFormat() {
        byte[] framed = Samples.framed(fresh().register(subject(PLACED), PLACED), Samples.placed());

        assertEquals(Samples.placed().toString(), Samples.read(fresh(), framed).toString());
    }

    @Test
    default void manyThreadsSeeTheSameIds() throws Exception {
        SchemaIds shared = fresh();
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            List<Future<Integer>> given = IntStream.range(0, 64)
                    .mapToObj(i -> threads.submit(() -> {
                        Schema schema = KNOWN.get(i % 3);
                        int id = shared.register(subject(schema), schema);
                        assertEquals(schema.getFullName(), shared.byId(id).getFullName());
                        return id;
                    }))
                    .toList();
            for (int i = 0; i < given.size(); i++) {
                assertEquals(given.get(i % 3).get(), given.get(i).get());
            }
        }
    }
}
