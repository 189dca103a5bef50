/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A page and a CSV table with a tenant whose name would be markup, a formula, and two cells. */
class StatsPageTest {
    private static final String NAME = "=<img src=x onerror=\"alert('1')\">,&";

    private static ObjectNode statistics() {
        ObjectNode json = new ObjectMapper().createObjectNode();
        json.put("from_ms", 1_000_000_000_000L).put("to_ms", 1_000_000_060_000L).put("hit_ratio", 0.5).put("block_accesses", 8);
        json.put("every_ms", 60_000);
        ArrayNode series = json.putArray("series");
        series.addObject().put("time_ms", 1_000_000_000_000L).put("tenant", NAME).put("hit_ratio", 0.5).put("moved_bytes", 10);
        series.addObject().put("time_ms", 1_000_000_060_000L).put("tenant", NAME).put("hit_ratio", 1.0).put("moved_bytes", 0);
        json.putArray("reuse_distance").addObject().put("from", 0).put("to", 0).put("count", 3);
        json.putArray("idle_time_ms");
        json.putArray("top_prefixes").addObject().put("namespace", NAME).put("saved_bytes", 1_024);
        return json;
    }

    private static String printed(Consumer<PrintWriter> print) {
        StringWriter out = new StringWriter();
        PrintWriter writer = new PrintWriter(out);
        print.accept(writer);
        writer.flush();
        return out.toString();
    }

    @Test
    void textsOfTheLogAreEscaped() {
        String page = printed(new StatsPage(statistics(), "tenant")::print);

        assertFalse(page.contains("<img"), page);
        assertTrue(page.contains("=&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;,&amp;"), page);
    }

    @Test
    void thePageNeedsNothingElse() {
        String page = printed(new StatsPage(statistics(), "tenant")::print);

        assertTrue(page.contains("default-src 'none'; style-src 'sha256-"), page);
        assertTrue(page.contains("prefers-color-scheme: dark"), page);
        for (String outside : new String[] {"<script", "http:", "https:", "url(", "@import", " style=", "src=\""}) {
            assertFalse(page.contains(outside), outside);
        }
        // The highest value, 1.0, is 16 below the top; half of it lies in the middle: 220 - 24 - 0.5 * (220 - 24 - 16) = 106.
        assertTrue(page.contains("points=\"70.0,106.0 850.0,16.0\""), page);
    }

    @Test
    void csvQuotesAndRunsNoFormula() {
        String csv = printed(out -> CsvText.print(out, statistics().withArray("series")));

        assertEquals("time_ms,tenant,hit_ratio,moved_bytes\r\n1000000000000,\"'=<img src=x onerror=\"\"alert('1')\"\">,&\",0.5,10\r\n",
                csv.substring(0, csv.indexOf("1000000060000")));
        assertEquals("", printed(out -> CsvText.print(out, new ObjectMapper().createArrayNode())));
    }
}
