/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;

/**
 * The port to the source of schema ids. Implementations are safe for use by several threads and remember what they learned, so
 * that a writer and a reader may ask for every record.
 *
 * <p>All errors are {@link RegistryException}s. The two a reader must keep apart: an {@link UnknownSchemaIdException} is an answer, the
 * record is unreadable; a {@link RegistryUnavailableException} is not an answer, the reader waits.
 */
public interface SchemaIds {
    /**
     * The id under which {@code schema} is written. Registers it if need be; a schema equal to a registered one gets that one's id, however
     * often and from however many processes this is called.
     *
     * @param subject the registry's name of what evolves together, see {@link Subjects}
     * @throws IncompatibleSchemaException when the registry refuses the schema
     * @throws RegistryUnavailableException when there was no answer
     * @throws SchemaNotBundledException when ids come from the jar and the jar does not hold the schema
     */
    int register(String subject, Schema schema);

    /**
     * The same, and makes sure that readers find the schema under that id.
     *
     * @throws WrongSchemaIdException when there is another one
     */
    default int registered(String subject, Schema schema) {
        int id = register(subject, schema);
        String found;
        try {
            Schema held = byId(id);
            if (SchemaNormalization.parsingFingerprint64(held) == SchemaNormalization.parsingFingerprint64(schema)) {
                return id;
            }
            found = held.getFullName();
        } catch (UnknownSchemaIdException e) {
            found = "none";
        } catch (UnreadableSchemaException e) {
            found = "what is no schema: " + e.getMessage();
        }
        throw new WrongSchemaIdException(subject, id, found);
    }

    /**
     * The schema with which a record of this id was written.
     *
     * @throws UnknownSchemaIdException when there is no such id
     * @throws UnreadableSchemaException when there is one, and it is not a schema that this program can read
     * @throws RegistryUnavailableException when there was no answer
     */
    Schema byId(int id);
}
