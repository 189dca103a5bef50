/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.AgentConfig;
import io.tierlog.agent.app.AgentOptions;
import io.tierlog.agent.app.LayoutsFile;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.LayoutKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Layouts from a file, and the digest that agents and engines share. */
class LayoutsTest {
    private static final String GOOD =
            "{\"name\":\"kv\",\"kind\":\"ATTENTION\",\"layers\":36,\"blockTokens\":16,"
                    + "\"segmentBytes\":32768,\"segments\":2,\"dtype\":\"bf16\"}";

    @TempDir
    Path directory;

    @Test
    void theDigestIsOfTheCanonicalText() {
        // printf 'kv|ATTENTION|1|512|16384|1|u8\n' | sha256sum
        assertEquals(
                "de3253923d1284c68830d37e4bf83cb9bf2d0fa93b6405a2409185aa3ec4a4e2",
                Layouts.layoutDigest(Layouts.opaque(16 << 10, 512)).hex());
        assertEquals("a|MLA|2|16|576|1|bf16\nb|ATTENTION|4|16|1024|2|f8\n", Layouts.canonical(List.of(
                new Layout("a", LayoutKind.MLA, 2, 16, 576, 1, "bf16", false), new Layout("b", LayoutKind.ATTENTION, 4, 16, 1024, 2, "f8", false))));
    }

    @Test
    void aFileGivesLayoutsAndBlockSize() throws IOException {
        Path file = write("[" + GOOD + "]");
        List<Layout> layouts = LayoutsFile.read(file);
        assertEquals(List.of(new Layout("kv", LayoutKind.ATTENTION, 36, 16, 32_768, 2, "bf16", false)), layouts);
        // 36 layers, K and V of 32,768 bytes each.
        assertEquals(2_359_296, Layouts.blockBytes(layouts));
        AgentConfig config = AgentConfig.of("a", "localhost:1", directory).with(AgentOptions.LAYOUTS, file);
        assertEquals(2_359_296, config.memory().blockBytes());
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "\"name\":\"kv\"; \"nmae\":\"kv\"; $[0].nmae: is not a field",
        "\"ATTENTION\"; \"attention\"; $[0].kind: 'attention' is none of",
        "\"ATTENTION\"; \"UNKNOWN\"; $[0].kind: 'UNKNOWN' is none of",
        "\"layers\":36,; ''; $[0].layers: is missing",
        "\"layers\":36; \"layers\":0; $[0].layers: is 0",
        "\"layers\":36; \"layers\":3.5; $[0].layers: is not a whole number",
        "\"layers\":36; \"layers\":99999999999; $[0].layers: is 99999999999",
        "\"bf16\"; 16; $[0].dtype: is not text",
        "\"kv\"; \"k|v\"; layouts[0].name",
        "36,; 36; line 1 column",
        "{\"name\"; [\"name\"; line 1 column",
        "\"layers\":36; \"layers\":36,\"layers\":37; line 1 column",
    })
    void aFaultIsReportedWithItsPlace(String from, String to, String message) throws IOException {
        Path file = write("[" + GOOD.replace(from, to) + "]");
        String said = String.valueOf(assertThrows(IllegalArgumentException.class, () -> LayoutsFile.read(file)).getMessage());
        assertTrue(said.startsWith(file.toString()) && said.contains(message), said);
    }

    @ParameterizedTest
    @CsvSource({"{}", "[]", "'[1]'", "''", "'[] []'"})
    void aFileWithoutAListOfLayoutsIsRefused(String text) throws IOException {
        Path file = write(text);
        String said = String.valueOf(assertThrows(IllegalArgumentException.class, () -> LayoutsFile.read(file)).getMessage());
        assertTrue(said.startsWith(file.toString()), said);
    }

    @Test
    void configurationsThatContradictThemselvesAreRefused() {
        AgentConfig good = AgentConfig.of("a", "localhost:1", directory);
        Layout layout = good.memory().layouts().getFirst();
        assertThrows(IllegalArgumentException.class, () -> new AgentConfig.Memory(-1, List.of(layout)));
        for (String node : List.of("", "a b", "a/b", "n".repeat(65))) {
            assertThrows(IllegalArgumentException.class, () -> good.with(AgentOptions.NODE, node), node);
        }
        AgentConfig noHost = good.with(AgentOptions.HOST, "0blocks");
        assertEquals(List.of(8, 1_032), List.of(noHost.poolPages(), good.poolPages()), "the agent's own pages come on top");
        assertEquals("8", noHost.effective().get("limit.core.bounce.blocks"));
        AgentConfig.Tuning noPages = AgentConfig.Tuning.DEFAULTS.with(AgentLimits.defaults().withBounceBlocks(0));
        assertThrows(IllegalArgumentException.class, () -> noHost.with(noPages));
        assertEquals("2", good.with(AgentOptions.NODES_PER_INSTANCE, 2).effective().get("nodes.per.instance"));
    }

    private Path write(String text) throws IOException {
        return Files.writeString(directory.resolve("layouts.json"), text);
    }

    /** MLA layers are the same on every rank; that says where a block lies and not what it is. */
    @Test
    void whatEveryRankHoldsIsReplicated() {
        Layout mla = new Layout("kv", LayoutKind.MLA, 4, 2, 1_024, 1, "bf16", false);
        Layout split = new Layout("draft", LayoutKind.ATTENTION, 1, 2, 1_024, 1, "bf16", false);
        List<Layout> replicated = Layouts.onRanks(List.of(mla), 2);
        assertTrue(replicated.getFirst().replicated());
        assertEquals(Layouts.layoutDigest(List.of(mla)), Layouts.layoutDigest(replicated));
        assertFalse(Layouts.onRanks(List.of(split), 2).getFirst().replicated());
        assertFalse(Layouts.onRanks(List.of(mla), 1).getFirst().replicated());
        assertThrows(IllegalArgumentException.class, () -> Layouts.onRanks(List.of(mla, split), 2));
    }
}
