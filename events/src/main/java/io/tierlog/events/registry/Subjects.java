/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import org.apache.avro.Schema;

/**
 * Names of subjects. Tierlog uses one subject per topic and record type (Confluent's TopicRecordNameStrategy), because a subject that
 * held the union of all types could never grow under FULL_TRANSITIVE. Static and without state.
 */
public final class Subjects {
    private Subjects() {}

    /** {@code <topic>-<full name of the record>}. */
    public static String topicRecordName(String topic, Schema schema) {
        if (schema.getType() != Schema.Type.RECORD) {
            throw new IllegalArgumentException("a subject is named after a record, this schema is " + schema.getType());
        }
        return topic + "-" + schema.getFullName();
    }
}
