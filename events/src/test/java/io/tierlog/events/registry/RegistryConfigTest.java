/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.URI;
import java.util.List;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RegistryConfigTest {
    @Test
    void aSlashAtTheEndIsDropped() {
        assertEquals(List.of(URI.create("http://h:1/apis/ccompat/v7")), RegistryConfig.of("http://h:1/apis/ccompat/v7/").baseUrls());
        assertEquals(List.of(URI.create("https://h")), RegistryConfig.of("https://h/").baseUrls());
    }

    @ParameterizedTest
    @ValueSource(strings = {"ftp://h", "h:8081", "http:///x", "http://h/?a=b", "http://h/#f", "registry"})
    void anUnusableUrlIsRefused(String url) {
        assertThrows(IllegalArgumentException.class, () -> RegistryConfig.of(url));
    }

    @Test
    void aSecretInTheAddressIsRefusedWithoutShowingIt() {
        String message = assertThrows(IllegalArgumentException.class, () -> RegistryConfig.of("http://me:sesame@h")).toString();

        assertFalse(message.contains("sesame"), message);
    }

    @Test
    void thereIsAtLeastOneAddress() {
        assertThrows(
                IllegalArgumentException.class, () -> new RegistryConfig(List.of(), Credentials.NONE, RegistryLimits.DEFAULTS));
    }

    @Test
    void limitsThatBoundNothingAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> new RegistryLimits(0, 1, 1, 2, 1, 1, 256, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new RegistryLimits(1, 2, 1, 2, 1, 1, 256, 1, 0), "call shorter than request");
        assertThrows(IllegalArgumentException.class, () -> new RegistryLimits(1, 1, 1, 1, 1, 1, 256, 1, 0), "one round");
        assertThrows(IllegalArgumentException.class, () -> new RegistryLimits(1, 1, 1, 2, 2, 1, 256, 1, 0), "back-off above its maximum");
        assertThrows(IllegalArgumentException.class, () -> new RegistryLimits(1, 1, 1, 2, 1, 1, 256, 0, 0), "no cache");
    }

    @Test
    void aUserNameWithAColonIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new Credentials.Basic("a:b", "c"));
    }

    @Test
    void aSubjectIsTopicAndRecord() {
        assertEquals("tierlog.events-io.tierlog.sample.One", Subjects.topicRecordName("tierlog.events", Samples.small("One")));
        assertThrows(
                IllegalArgumentException.class, () -> Subjects.topicRecordName("t", Schema.create(Schema.Type.INT)));
    }
}
