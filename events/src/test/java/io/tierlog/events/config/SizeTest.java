/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SizeTest {
    // blocks of 16 KiB, 182,790 unique ones: 2 GiB / 16 KiB = 131,072; 5 % of 182,790 = 9,139.5 -> 9,140
    @ParameterizedTest
    @CsvSource({
        "2GiB,131072", "2 gib,131072", "512MiB,32768", "16384,1", "4096blocks,4096", "1block,1", "5%,9140", "1%,1828", "0.0001%,1"
    })
    void comesToBlocks(String text, int blocks) {
        assertEquals(blocks, Size.parse(text).toBlocks(16_384, 182_790));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "5 percent", "-1%", "0%", "2GB", "1e9", "%", "99999%"})
    void refusesOtherTexts(String text) {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> Size.parse(text)).getMessage());
        assertTrue(message.contains("'" + text + "'"), message);
    }

    @Test
    void refusesLessThanABlock() {
        assertThrows(IllegalArgumentException.class, () -> Size.parse("1000").toBlocks(16_384, 100));
        assertThrows(IllegalArgumentException.class, () -> Size.parse("0blocks").toBlocks(16_384, 100));
    }
}
