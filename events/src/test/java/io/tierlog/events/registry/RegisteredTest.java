/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import static io.tierlog.events.registry.Samples.small;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

/** An id is believed when the schema is found under it. */
class RegisteredTest {
    /** Gives ids by a rule, and finds under an id what was last registered with it. */
    private static final class Ruled implements SchemaIds {
        private final Map<Integer, Schema> held = new HashMap<>();
        private final boolean oneForAll;

        Ruled(boolean oneForAll) {
            this.oneForAll = oneForAll;
        }

        @Override
        public int register(String subject, Schema schema) {
            int id = oneForAll ? 7 : held.size() + 1;
            held.putIfAbsent(id, schema);
            return id;
        }

        @Override
        public Schema byId(int id) {
            Schema found = held.get(id);
            if (found == null) {
                throw new UnknownSchemaIdException(id, "there is none");
            }
            return found;
        }
    }

    @Test
    void anIdUnderWhichThereIsAnotherSchemaIsRefused() {
        SchemaIds lying = new Ruled(true);
        assertEquals(7, lying.registered("s-a", small("A")));
        WrongSchemaIdException e = assertThrows(WrongSchemaIdException.class, () -> lying.registered("s-b", small("B")));
        String message = String.valueOf(e.getMessage());
        assertTrue(message.contains("id 7") && message.contains("s-b") && message.contains(small("A").getFullName()), message);
    }

    @Test
    void anIdThatTheRegistryDoesNotKnowIsRefused() {
        SchemaIds forgetful = new SchemaIds() {
            @Override
            public int register(String subject, Schema schema) {
                return 3;
            }

            @Override
            public Schema byId(int id) {
                throw new UnknownSchemaIdException(id, "there is none");
            }
        };
        assertTrue(String.valueOf(assertThrows(WrongSchemaIdException.class, () -> forgetful.registered("s", small("A"))).getMessage())
                .contains("it has none"));
    }

    @Test
    void anHonestOneIsBelieved() {
        SchemaIds honest = new Ruled(false);
        assertEquals(1, honest.registered("s-a", small("A")));
        assertEquals(2, honest.registered("s-b", small("B")));
    }
}
