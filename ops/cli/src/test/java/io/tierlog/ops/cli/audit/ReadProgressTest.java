/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/** What people see while a log is read. */
class ReadProgressTest {
    private final StringWriter text = new StringWriter();

    private String printed(boolean terminal) {
        ReadProgress progress = new ReadProgress(new PrintWriter(text), terminal);
        progress.print(0, 0, 2_000);
        progress.print(500, 2_000, 4_000); // 125 a second: 1,500 more take 12 s.
        progress.print(1_999, 2_000, 16_000);
        progress.print(2_000, 2_000, 16_008);
        progress.end();
        return text.toString().replace(System.lineSeparator(), "\n");
    }

    @Test
    void aFileHasALineEachTime() {
        assertEquals("""
                0 of 0 records after 2 s
                500 of 2000 records after 4 s, 25 %, 12 s left
                1999 of 2000 records after 16 s, 99 %, 1 s left
                2000 of 2000 records after 16 s, 100 %, 0 s left
                """, printed(false));
    }

    @Test
    void aTerminalHasOneLineThatIsWrittenOver() {
        assertEquals("\r0 of 0 records after 2 s"
                + "\r500 of 2000 records after 4 s, 25 %, 12 s left"
                + "\r1999 of 2000 records after 16 s, 99 %, 1 s left"
                + "\r2000 of 2000 records after 16 s, 100 %, 0 s left\n", printed(true));
    }

    @Test
    void aShorterTextCoversTheOneBefore() {
        ReadProgress progress = new ReadProgress(new PrintWriter(text), true);
        progress.print(500, 2_000, 4_000);
        progress.print(0, 0, 4_000);
        assertEquals("\r500 of 2000 records after 4 s, 25 %, 12 s left\r0 of 0 records after 4 s" + " ".repeat(22), text.toString());
    }

    @Test
    void aReadingThatEndsAtOncePrintsNothing() {
        new ReadProgress(new PrintWriter(text), true).end();
        assertEquals("", text.toString());
    }
}
