/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import io.tierlog.events.registry.BundledSchemaIds;
import io.tierlog.events.registry.SchemaIds;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.directory.Published;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.head.Head;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;

/** The schemas this version was built with. Static and without state. */
public final class Schemas {
    private Schemas() {}

    /** All families that stand in topics. */
    public static List<Class<? extends WireRecord>> families() {
        return List.of(Event.class, Fact.class, Command.class, Published.class, Head.class);
    }

    /** The current schema of every type of every family. */
    public static List<Schema> current() {
        List<Schema> all = new ArrayList<>();
        for (Class<? extends WireRecord> family : families()) {
            WireType.ofFamily(family).forEach(type -> all.add(type.schema()));
        }
        return all;
    }

    /** Ids for a log without a registry, from the schemas in the jar. */
    public static SchemaIds bundled() {
        return new BundledSchemaIds(current());
    }
}
