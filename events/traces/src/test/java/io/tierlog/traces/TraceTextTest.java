/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceTextTest {
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String SPAN = "b7ad6b7169203331";
    private static final String PARENT = "00-" + TRACE + "-" + SPAN + "-01";

    @Test
    void aContextIsCarriedAsItCame() {
        assertEquals(Optional.of(PARENT), TraceText.ofHeaders(PARENT, null));
        assertEquals(Optional.of(PARENT + " a=1,b=2"), TraceText.ofHeaders(PARENT, "a=1,b=2"));
        assertEquals("1", TraceText.read(PARENT + " a=1,b=2").getTraceState().get("a"));
        assertEquals(PARENT + " a=1,b=2", TraceText.write(TraceText.read(PARENT + " a=1,b=2")));
        assertEquals(SPAN, TraceText.read(PARENT).getSpanId());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", "x", "00", "00-" + TRACE + "-" + SPAN, "ff-" + TRACE + "-" + SPAN + "-01", "00-" + TRACE + "-" + SPAN + "-0g",
        "00-00000000000000000000000000000000-" + SPAN + "-01", "00-" + TRACE + "-0000000000000000-01", "00-" + TRACE + "-" + SPAN + "-01-more",
        "00-0AF7651916CD43DD8448EB211C80319C-" + SPAN + "-01", "00_" + TRACE + "_" + SPAN + "_01"})
    void aMalformedContextIsNone(String text) {
        assertEquals(Optional.empty(), TraceText.ofHeaders(text, "a=1"));
        assertFalse(TraceText.read(text).isValid());
    }

    @Test
    void aMalformedOrLongStateIsLeftOut() {
        assertEquals(Optional.of(PARENT), TraceText.ofHeaders(PARENT, "no equals sign"));
        assertEquals(Optional.of(PARENT), TraceText.ofHeaders(PARENT, "a=" + "x".repeat(TraceText.MAX_STATE)));
    }

    @Test
    void theFlagSaysWhetherSpansAreAskedFor() {
        assertTrue(TraceText.isSampled(PARENT));
        assertTrue(TraceText.isSampled("00-" + TRACE + "-" + SPAN + "-03 a=1"));
        assertFalse(TraceText.isSampled("00-" + TRACE + "-" + SPAN + "-00"));
        assertFalse(TraceText.isSampled("00-" + TRACE + "-" + SPAN + "-02"));
        assertFalse(TraceText.isSampled("00-short-01"));
        assertFalse(TraceText.isSampled(null));
    }

    @Test
    void anEndpointIsAUrlOfHostAndPort() {
        assertEquals(URI.create("http://h:4318/v1/traces"), TraceOptions.endpoint("http://h:4318"));
        assertEquals(URI.create("http://h:4318/v1/traces"), TraceOptions.endpoint("http://h:4318/"));
        assertEquals(URI.create("https://h/otel/v1/traces"), TraceOptions.endpoint("https://h/otel/v1/traces"));
        for (String bad : new String[] {"h:4318", "ftp://h", "http://", "http://user:secret@h:4318", "http://h:4318?a=b", "http://h h"}) {
            assertThrows(IllegalArgumentException.class, () -> TraceOptions.endpoint(bad), bad);
        }
    }
}
