/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.sign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of record keys: what they hold, and what is refused. */
class RecordKeysTest {
    private static final String ONE = "01".repeat(32);
    private static final String TWO = "02".repeat(32);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path dir;

    private Path file(String... lines) throws Exception {
        Path file = Files.createTempFile(dir, "keys", "", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.write(file, List.of(lines));
    }

    private static String hex(RecordKeys keys, String id, String name) {
        return HexFormat.of().formatHex(Objects.requireNonNull(keys.find(id, name)).getEncoded());
    }

    private String refusal(String... lines) throws Exception {
        Path file = file(lines);
        return String.valueOf(assertThrows(IllegalArgumentException.class, () -> RecordKeys.read(file)).getMessage());
    }

    @Test
    void theFirstIdSignsAndAllVerify() throws Exception {
        RecordKeys keys = RecordKeys.read(file("# newest first", "b " + TWO, "", "a " + ONE));
        assertEquals("b", keys.signingId());
        assertEquals(List.of("b", "a"), keys.ids());
        assertNotEquals(hex(keys, "a", "agent/n1"), hex(keys, "b", "agent/n1"));
        assertNull(keys.find("c", "agent/n1"));
    }

    @Test
    void eachNameHasItsOwnKey() throws Exception {
        RecordKeys keys = RecordKeys.read(file("a " + ONE));
        List<String> names = List.of("agent/n1", "agent/n2", "command/n1", "decision/n1", "decision", "clock", "operator", "directory", "placement");
        assertEquals(names.size(), names.stream().map(name -> hex(keys, "a", name)).distinct().count());
        // Computed apart by openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt key:... -kdfopt info:"tierlog record agent/n1" HKDF.
        assertEquals("2fb53a304b8e0c6e1fbb4b70e81fb7a23405510ddac8d3b4974dea9046899be0", hex(keys, "a", "agent/n1"));
    }

    @Test
    void aDerivedFileHasItsNamesOnly() throws Exception {
        RecordKeys master = RecordKeys.read(file("b " + TWO, "a " + ONE));
        RecordKeys node = RecordKeys.read(file(master.derivedLines(KeyNames.ofNode("n1")).toArray(String[]::new)));
        assertEquals("b", node.signingId());
        assertEquals(hex(master, "a", "agent/n1"), hex(node, "a", "agent/n1"));
        assertNull(node.find("a", "agent/n2"));
        assertNull(node.find("a", "clock"));
        assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class, () -> node.require("agent/n2")).getMessage()).contains("keys derive"));
        assertThrows(IllegalArgumentException.class, () -> node.derivedLines(List.of("agent/n2")));
    }

    @Test
    void badFilesAreRefusedWithWhatToDo() throws Exception {
        assertTrue(String.valueOf(refusal("a " + ONE, "a " + TWO)).contains("line 2 repeats the id a"));
        assertTrue(String.valueOf(refusal("a clock " + ONE, "a clock " + TWO)).contains("line 2 repeats the id a"));
        assertTrue(String.valueOf(refusal("a " + ONE, "b clock " + TWO)).contains("master keys and derived ones"));
        assertTrue(String.valueOf(refusal("a 0102")).contains("line 1 has 2 bytes, not 32"));
        assertTrue(String.valueOf(refusal("a xyz")).contains("not hexadecimal"));
        assertTrue(String.valueOf(refusal("a b c " + ONE)).contains("is not 'ID HEX'"));
        assertTrue(String.valueOf(refusal("# nothing")).contains("it has no key"));
        Path open = file("a " + ONE);
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));
        assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class, () -> RecordKeys.read(open)).getMessage()).contains("chmod o-rwx"));
        Path absent = dir.resolve("absent");
        assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class, () -> RecordKeys.read(absent)).getMessage()).contains("keys create"));
    }
}
