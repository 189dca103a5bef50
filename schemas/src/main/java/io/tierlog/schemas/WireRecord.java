/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas;

import java.io.IOException;
import org.apache.avro.Schema;
import org.apache.avro.io.Encoder;

/**
 * A record of the log: immutable, generated from a schema, equal by content.
 *
 * <p>Each has a constant {@code TYPE}, its {@link WireType}, which encodes and decodes it. Safe for use by several threads.
 */
public interface WireRecord {
    /** The schema the class was generated from. */
    Schema schema();

    /** Writes the fields in the order of the schema, without any prefix. */
    void encode(Encoder out) throws IOException;
}
