/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import static io.tierlog.events.registry.Samples.PLACED;
import static io.tierlog.events.registry.Samples.small;
import static io.tierlog.events.registry.Samples.subject;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The client against a real registry server. */
@ExtendWith(RealRegistry.class)
final class RegistryClientTest implements SchemaIdsContract {
    private final RegistryProcess registry;
    private final List<RegistryClient> opened = new ArrayList<>();

    RegistryClientTest(RegistryProcess registry) {
        this.registry = registry;
    }

    @Override
    public RegistryClient fresh() {
        return of(registry.baseUrl());
    }

    private RegistryClient of(String... baseUrls) {
        RegistryClient client = new RegistryClient(
                new RegistryConfig(List.of(baseUrls).stream().map(URI::create).toList(), Credentials.NONE, RegistryLimits.DEFAULTS));
        opened.add(client);
        return client;
    }

    @AfterEach
    void close() {
        opened.forEach(RegistryClient::close);
    }

    @Test
    void anIncompatibleChangeIsRefusedUnderFullTransitive() {
        RegistryClient client = fresh();
        Schema first = small("Strict");
        client.requireFullTransitive(subject(first));
        client.register(subject(first), first);

        Schema compatible = small("Strict", "{\"name\":\"a\",\"type\":\"int\"}", "{\"name\":\"b\",\"type\":\"int\",\"default\":0}");
        Schema breaking = small("Strict", "{\"name\":\"a\",\"type\":\"int\"}", "{\"name\":\"c\",\"type\":\"int\"}");

        int id = client.register(subject(compatible), compatible);
        assertEquals(compatible, fresh().byId(id));
        IncompatibleSchemaException e =
                assertThrows(IncompatibleSchemaException.class, () -> client.register(subject(breaking), breaking));
        assertEquals(subject(breaking), e.subject());
        assertTrue(e.reason().contains("409"), e.reason());
    }

    /** Version 2 has no x, so version 3 fits it with an x of another type; version 1 has an x, which version 3 cannot read. */
    @Test
    void fullTransitiveLooksAtAllVersions() {
        RegistryClient client = fresh();
        Schema first = small("Long", "{\"name\":\"x\",\"type\":\"int\",\"default\":0}");
        Schema second = small("Long", "{\"name\":\"y\",\"type\":\"int\",\"default\":0}");
        Schema third = small(
                "Long",
                "{\"name\":\"x\",\"type\":\"string\",\"default\":\"\"}",
                "{\"name\":\"y\",\"type\":\"int\",\"default\":0}");
        client.requireFullTransitive(subject(first));
        client.register(subject(first), first);
        client.register(subject(second), second);

        assertThrows(IncompatibleSchemaException.class, () -> client.register(subject(third), third));
    }

    @Test
    void textOutsideAsciiSurvives() {
        Schema schema = small("Wide", "{\"name\":\"a\",\"type\":\"int\",\"doc\":\"Größe \\u20ac 漢\"}");
        SchemaIds client = fresh();

        Schema back = fresh().byId(client.register("Subjekt mit/ß und +", schema));

        assertEquals(schema.getField("a").doc(), back.getField("a").doc());
    }

    @Test
    void aDeadServerIsUnavailableAndNotAnUnknownId() throws Exception {
        RegistryClient knows;
        RegistryClient knowsNothing;
        int id;
        try (RegistryProcess mortal = RegistryProcess.start()) {
            knows = of(mortal.baseUrl());
            knowsNothing = of(mortal.baseUrl());
            id = knows.register(subject(PLACED), PLACED);
            knows.byId(id);
        }

        assertEquals(PLACED, knows.byId(id), "what is remembered needs no server");
        assertEquals(id, knows.register(subject(PLACED), PLACED));
        assertThrows(RegistryUnavailableException.class, () -> knowsNothing.byId(id));
        assertThrows(RegistryUnavailableException.class, () -> knowsNothing.register(subject(PLACED), PLACED));
        assertThrows(RegistryUnavailableException.class, () -> knowsNothing.requireFullTransitive(subject(PLACED)));
    }

    @Test
    void aDeadInstanceIsPassedOver() {
        RegistryClient client = of("http://127.0.0.1:1", registry.baseUrl());

        int id = client.register(subject(PLACED), PLACED);

        assertEquals(PLACED, client.byId(id));
        assertThrows(UnknownSchemaIdException.class, () -> client.byId(123_456_789), "one instance alone may say it, twice");
    }

    @Test
    void aBaseUrlWithoutARegistryIsUnavailableAndNotAnUnknownId() {
        String noApi = registry.baseUrl().replace("/apis/ccompat/v7", "/apis/nothing");

        RegistryUnavailableException e = assertThrows(RegistryUnavailableException.class, () -> of(noApi).byId(1));

        assertTrue(e.toString().contains("404"), e.toString());
        assertTrue(e.retryInMs() > 0);
    }
}
