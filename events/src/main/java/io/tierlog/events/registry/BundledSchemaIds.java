/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import io.tierlog.schemas.Sha256;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;

/**
 * Ids without a registry, for the embedded first run: each is a function of its schema, so that processes agree without talking.
 *
 * <p>The id is made from the SHA-256 of the schema's Parsing Canonical Form (Avro specification, "Transforming into Parsing Canonical
 * Form"), which two schemas share exactly when their bytes are read the same way. Documentation and defaults are left out on purpose: they
 * do not change what a written byte means, and with them every corrected comment would leave history unreadable until the old text was
 * added to the list. Ids lie in 2^30 to 2^31 - 1; registries count from 1, so the two kinds are distinct on one log.
 *
 * <p>A later version reads what an earlier one wrote if the earlier schemas are in the list. Safe for use by several threads. Trade-off:
 * no check that versions fit together at run time; the compatibility tests of the schemas do.
 */
public final class BundledSchemaIds implements SchemaIds {
    private static final int LOWEST_ID = 1 << 30;
    private static final int MAX_OTHER_FORMS = 10_000;

    private final Map<Integer, Schema> byId = new ConcurrentHashMap<>();
    private final Map<Schema, Integer> ids = new ConcurrentHashMap<>();
    private final BoundedCache<Schema, Integer> otherForms = new BoundedCache<>(MAX_OTHER_FORMS);

    /**
     * @param schemas the current ones first, then earlier ones; of those whose bytes read the same the first is given out
     * @throws IllegalArgumentException when two of them differ and have the same id: rename a field of the newer one
     */
    public BundledSchemaIds(List<Schema> schemas) {
        for (Schema schema : schemas) {
            String form = SchemaNormalization.toParsingForm(schema);
            int id = id(form);
            Schema first = byId.putIfAbsent(id, schema);
            if (first != null && !SchemaNormalization.toParsingForm(first).equals(form)) {
                throw new IllegalArgumentException(
                        "two bundled schemas share id " + id + ": " + first.getFullName() + " and " + schema.getFullName());
            }
            ids.put(schema, id);
        }
    }

    /** The id that {@code schema} has in every version of Tierlog, bundled or not. */
    public static int idOf(Schema schema) {
        return id(SchemaNormalization.toParsingForm(schema));
    }

    @Override
    public int register(String subject, Schema schema) {
        Integer id = ids.get(schema);
        return id != null ? id : otherForms.get(schema).orElseGet(() -> registerOtherForm(subject, schema));
    }

    /** A schema that differs from a bundled one in what its bytes do not depend on. */
    private int registerOtherForm(String subject, Schema schema) {
        String form = SchemaNormalization.toParsingForm(schema);
        int id = id(form);
        if (Optional.ofNullable(byId.get(id)).filter(s -> SchemaNormalization.toParsingForm(s).equals(form)).isEmpty()) {
            throw new SchemaNotBundledException(subject, schema.getFullName());
        }
        otherForms.put(schema, id);
        return id;
    }

    @Override
    public Schema byId(int id) {
        Schema schema = byId.get(id);
        if (schema == null) {
            throw new UnknownSchemaIdException(id, "no bundled schema has id " + id + (id < LOWEST_ID
                    ? "; ids this low come from a registry: configure the one the record was written with"
                    : "; it was written by a version with other schemas"));
        }
        return schema;
    }

    private static int id(String parsingForm) {
        return LOWEST_ID | (ByteBuffer.wrap(Sha256.of(parsingForm)).getInt() & (LOWEST_ID - 1));
    }
}
