/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** 6,144 bytes at most: a plain character is one, a euro sign 3 bytes of UTF-8, each sent as three. */
class StatusTextTest {
    @Test
    void aShortTextStaysAsItIs() {
        assertEquals("", StatusText.within(""));
        assertEquals("a".repeat(6_144), StatusText.within("a".repeat(6_144)));
        assertEquals("\u20ac".repeat(682), StatusText.within("\u20ac".repeat(682))); // 682 * 9 = 6,138
    }

    @Test
    void ofALongTextTheBeginningIsKept() {
        assertEquals("a".repeat(6_141) + "...", StatusText.within("a".repeat(6_145)));
        assertEquals("\u20ac".repeat(682) + "...", StatusText.within("\u20ac".repeat(683)));
        assertEquals("%".repeat(2_047) + "...", StatusText.within("%".repeat(9_000)));
        assertEquals("\ud83d\ude00".repeat(511) + "...", StatusText.within("\ud83d\ude00".repeat(513))); // whole code points of 12 bytes
    }
}
