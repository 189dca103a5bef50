/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import static io.tierlog.events.registry.Samples.PLACED;
import static io.tierlog.events.registry.Samples.small;
import static io.tierlog.events.registry.Samples.subject;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

final class BundledSchemaIdsTest implements SchemaIdsContract {
    @Override
    public SchemaIds fresh() {
        return new BundledSchemaIds(KNOWN);
    }

    /** Ids are written into logs, so they may never change: these two were computed outside Java from the canonical forms. */
    @Test
    void idsAreTheOnesOfAllVersions() {
        assertEquals(1_849_493_814, BundledSchemaIds.idOf(small("One")));
        assertEquals(1_335_358_871, BundledSchemaIds.idOf(PLACED));
    }

    @Test
    void whatDoesNotChangeTheBytesDoesNotChangeTheId() {
        Schema reworded = small("One", "{\"name\":\"a\",\"type\":\"int\",\"doc\":\"in ms\",\"default\":5}");
        SchemaIds ids = fresh();

        int id = ids.register(subject(reworded), reworded);

        assertEquals(BundledSchemaIds.idOf(small("One")), id);
        assertEquals(id, ids.register(subject(reworded), reworded));
        assertEquals(small("One"), ids.byId(id));
    }

    @Test
    void whatChangesTheBytesOrTheirMeaningChangesTheId() {
        int id = BundledSchemaIds.idOf(small("One"));

        assertNotEquals(id, BundledSchemaIds.idOf(small("One", "{\"name\":\"a\",\"type\":\"long\"}")));
        assertNotEquals(id, BundledSchemaIds.idOf(small("One", "{\"name\":\"b\",\"type\":\"int\"}")));
        assertNotEquals(id, BundledSchemaIds.idOf(small("Other")));
    }

    @Test
    void ofSchemasThatReadTheSameTheFirstIsGivenOut() {
        Schema current = small("One", "{\"name\":\"a\",\"type\":\"int\",\"default\":5}");
        SchemaIds ids = new BundledSchemaIds(List.of(current, small("One")));

        assertSame(current, ids.byId(BundledSchemaIds.idOf(small("One"))));
    }

    /** Fields f27501 and f41151 make two canonical forms whose hashes agree in the bits that are used; found by search. */
    @Test
    void twoSchemasUnderOneIdAreRefused() {
        Schema one = small("One", "{\"name\":\"f27501\",\"type\":\"int\"}");
        Schema other = small("One", "{\"name\":\"f41151\",\"type\":\"int\"}");
        assertEquals(BundledSchemaIds.idOf(one), BundledSchemaIds.idOf(other));

        assertThrows(IllegalArgumentException.class, () -> new BundledSchemaIds(List.of(one, other)));
        SchemaIds ids = new BundledSchemaIds(List.of(one));
        assertThrows(SchemaNotBundledException.class, () -> ids.register(subject(other), other));
    }

    @Test
    void aSchemaThatIsNotBundledIsRefusedByName() {
        Schema stranger = small("Stranger");

        String message = assertThrows(SchemaNotBundledException.class, () -> fresh().register(subject(stranger), stranger)).toString();

        assertTrue(message.contains("io.tierlog.sample.Stranger"), message);
    }

    @Test
    void idsNeverMeetThoseOfARegistry() {
        for (Schema schema : KNOWN) {
            assertTrue(BundledSchemaIds.idOf(schema) >= 1 << 30);
        }
        String message = assertThrows(UnknownSchemaIdException.class, () -> fresh().byId(17)).toString();
        assertTrue(message.contains("come from a registry"), message);
    }
}
