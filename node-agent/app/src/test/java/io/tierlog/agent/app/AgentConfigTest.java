/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.disk.ForcePolicy;
import io.tierlog.events.config.OptionValues;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgentConfigTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    Path directory;

    private static AgentConfig config() {
        return AgentConfig.of("a", "none:1", Path.of("store"));
    }

    /** The engine API and the core accept the same numbers of blocks, which are part of the effective configuration. */
    @Test
    void engineApiAndCoreHaveOneLimitOfBlocks() {
        assertEquals("65536", config().effective().get("limit.core.bounds.keys.per.request"));
        assertEquals("65536", config().effective().get("limit.engine.prompt.blocks"));
        assertEquals("4096", config().effective().get("limit.core.bounds.blocks.per.call"));
        assertEquals("4096", config().effective().get("limit.engine.blocks.per.call"));

        AgentLimits.Bounds usual = AgentLimits.defaults().bounds();
        for (int keys : new int[] {65_535, 65_537}) {
            AgentLimits other = AgentLimits.defaults().with(usual.withKeysPerRequest(keys));
            String why = String.valueOf(assertThrows(IllegalArgumentException.class, () -> AgentConfig.Tuning.DEFAULTS.with(other)).getMessage());
            assertTrue(why.contains("65536") && why.contains(String.valueOf(keys)) && why.contains("promptBlocks"), why);
        }
    }

    /** The option sets what a prompt has; the keys of its record follow the longest record: 56 bytes each, and 64 KiB. */
    @Test
    void theBoundsOfAPromptFollowTheOptionAndTheLongestRecord() throws IOException {
        assertEquals("16384", config().effective().get("limit.core.bounds.keys.per.record"));
        Map<String, String> short100 = config().with("prompt.blocks", 100).effective();
        for (String bound : List.of("core.bounds.keys.per.request", "core.bounds.keys.per.record", "core.bounds.blocks.per.call",
                "engine.prompt.blocks", "engine.blocks.per.call")) {
            assertEquals("100", short100.get("limit." + bound), bound);
        }
        assertThrows(RuntimeException.class, () -> config().with("prompt.blocks", 262_145));
        assertThrows(RuntimeException.class, () -> config().with("prompt.blocks", 0));

        assertEquals("16384", keysPerRecord("4194304"), "topics may take no more than 1 MiB");
        assertEquals("1000", keysPerRecord(String.valueOf((64 << 10) + 56_055)));
        assertEquals("1", keysPerRecord("100"));
        for (String wrong : List.of("much", "0", "99999999999")) {
            String why = String.valueOf(assertThrows(IllegalArgumentException.class, () -> keysPerRecord(wrong)).getMessage());
            assertTrue(why.contains("max.request.size is '" + wrong + "'"), why);
        }
    }

    private @Nullable String keysPerRecord(String requestBytes) throws IOException {
        Path client = Files.writeString(directory.resolve("client.properties"), "max.request.size=" + requestBytes + "\n");
        return config().with("client.config", client).effective().get("limit.core.bounds.keys.per.record");
    }

    @Test
    void theEffectiveConfigurationHasEveryOptionAndEveryLimit() {
        Map<String, String> effective = config().effective();
        for (ConfigDef.ConfigKey key : AgentOptions.options().keys()) {
            assertTrue(effective.containsKey(key.name), key.name);
        }
        assertEquals("200", effective.get("prefetch.wait.ms"));
        assertEquals("none", effective.get("engine.socket"));
        assertEquals("false", effective.get("fsync"));
        assertEquals("1024", effective.get("host.blocks"));
        assertEquals("200", effective.get("limit.core.times.prefetch.wait.ms"));
        assertEquals("262144", effective.get("limit.peers.chunk.bytes"));
        assertEquals("PT10S", effective.get("limit.stop"));
        assertEquals("65536", effective.get("limit.device.queued.copies"));
        assertEquals("none", effective.get("limit.host.numa.node"));
        assertTrue(effective.values().stream().noneMatch(value -> value.contains("@")), effective.toString());
    }

    @Test
    void whatOptionsSayIsInEffect() {
        AgentConfig config = config().with(Map.of("prefetch.wait.ms", "70", "peer.listen", "127.0.0.1:0", "peer.bytes.per.second", "64KiB",
                "disk", "d", "disk.size", "1MiB", "fsync", true));
        assertEquals(70, config.tuning().core().times().prefetchWaitMs());
        assertEquals(64 << 10, config.peers().orElseThrow().limits().bytesPerSecond());
        assertEquals(new AgentConfig.Disk(Path.of("d"), 64, ForcePolicy.PER_BATCH), config.disk().orElseThrow());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "host                  | 3         | --host: 3 bytes are less than 1 block of 16384 bytes",
        "host                  | 5%        | --host: '5%' is a share: give bytes (64GiB) or blocks (4096blocks)",
        "host                  | many      | --host: 'many' is not a size: give",
        "host                  | 2000000000blocks | --host: 2000000000 blocks of 16384 bytes are more than the 1073741824 that a tier can have",
        "bytes.per.block       | 2GiB      | layouts: a block has 1 to 1073741824 bytes, not 2147483648",
        "bytes.per.block       | 4blocks   | --bytes-per-block: '4blocks' is not a number of bytes, for example 16KiB",
        "block.tokens          | 0         | --block-tokens: 0 is not between 1 and 2147483647",
        "port                  | 65536     | --port: 65536 is not between 0 and 65535",
        "port                  | x         | --port: 'x' is not a whole number, 0 to 65535",
        "fsync                 | maybe     | --fsync: 'maybe' is not true or false",
        "tcp                   | false     | --no-tcp goes with --engine-socket: engines must be able to connect",
        "device                | gpu       | --device: 'gpu' is not a device: emulated, cuda, or cuda:N for GPU N",
        "node                  | a b       | --node: 'a b' is not 1 to 64 letters, digits, dots, dashes or underscores",
        "disk                  | d         | --disk and --disk-size go together",
        "peer.listen           | here      | --peer-listen: 'here' is not HOST:PORT, for example 127.0.0.1:7171",
        "peer.advertise        | a:1       | --peer-advertise a:1 is the address of the peer API: give --peer-listen too",
        "client.config         | /no/file  | --client-config: '/no/file' is not a file that can be read",
        "layouts               | /no/file  | --layouts: '/no/file' is not a file that can be read",
        "hosts                 | 1         | --hosts is not an option",
    })
    void aWrongValueIsRefusedByTheNameOfItsFlag(String option, String value, String message) {
        String why = String.valueOf(assertThrows(IllegalArgumentException.class, () -> config().with(option, value)).getMessage());
        assertTrue(why.startsWith(message), why);
    }

    @Test
    void everyWrongValueIsNamedAtOnce() {
        assertEquals("--ranks: 0 is not between 1 and 2147483647; --port: -1 is not between 0 and 65535", String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> config().with(Map.of("ranks", 0, "port", -1))).getMessage()));
        String missing = String.valueOf(assertThrows(
                IllegalArgumentException.class, () -> OptionValues.parse(AgentOptions.options(), Map.of())).getMessage());
        assertEquals("--node: is missing; --store: is missing", missing);
    }
}
