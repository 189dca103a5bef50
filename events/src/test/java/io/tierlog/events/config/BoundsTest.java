/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;

class BoundsTest {
    @Test
    void aRefusedUrlIsShownWithoutItsPassword() {
        ConfigException pattern = assertThrows(ConfigException.class, () -> Bounds.URL.ensureValid("", "http://ann:secret@registry:8081"));
        assertEquals("'http://***@registry:8081' is not http://HOST:PORT or https://HOST:PORT", pattern.getMessage());
        Bounds form = Bounds.form("a store", text -> {
            throw new IllegalArgumentException("no password goes into a URL");
        });
        ConfigException parser = assertThrows(ConfigException.class, () -> form.ensureValid("", "redis://ann:secret@cache:6379/0"));
        assertEquals("'redis://***@cache:6379/0': no password goes into a URL", parser.getMessage());
    }

    @Test
    void otherTextsAreShownAsTheyAre() {
        assertEquals("'http://h:1/a@b' and //h/", Bounds.shown("'http://h:1/a@b' and //h/"));
    }
}
