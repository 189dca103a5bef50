/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.sign.RecordKeys;
import io.tierlog.ops.audit.heads.HeadKeys;
import io.tierlog.ops.audit.heads.SigningKey;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class KeysCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path home;

    private record Output(int code, String out, String err) {}

    private Output run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = new CommandLine(new Main()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        return new Output(Main.run(line, List.of(arguments), Map.of(), home), out.toString(), err.toString());
    }

    private String file(String name) {
        return home.resolve(name).toString();
    }

    @Test
    void keysAreMadeAddedPromotedAndDerived() throws Exception {
        assertEquals(0, run("keys", "create", "--file", file("m"), "--id", "k1").code());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(home.resolve("m"))));
        assertEquals(0, run("keys", "add", "--file", file("m"), "--id", "k2").code());
        assertEquals("k1 signs\nk2 verifies\n", run("keys", "list", "--file", file("m")).out().replace("\r", ""));
        assertEquals(0, run("keys", "promote", "--file", file("m"), "--id", "k2").code());
        assertEquals(0, run("keys", "derive", "--file", file("m"), "--node", "n1", "--out", file("n1")).code());
        RecordKeys node = RecordKeys.read(home.resolve("n1"));
        assertEquals(List.of("k2", "k1"), node.ids());
        node.require("agent/n1");
        assertThrows(IllegalArgumentException.class, () -> node.require("agent/n2"));
        try (var files = Files.list(home)) {
            assertEquals(List.of("m", "n1"), files.map(one -> one.getFileName().toString()).filter(one -> !one.startsWith(".")).sorted().toList());
        }
    }

    @Test
    void wrongUsesChangeNothing() throws Exception {
        run("keys", "create", "--file", file("m"), "--id", "k1");
        List<String> before = Files.readAllLines(home.resolve("m"));
        assertTrue(run("keys", "create", "--file", file("m"), "--id", "k2").err().contains("exists"));
        assertTrue(run("keys", "add", "--file", file("m"), "--id", "k1").err().contains("repeats the id k1"));
        assertTrue(run("keys", "add", "--file", file("m"), "--id", "k 2").err().contains("is no id of a key"));
        assertTrue(run("keys", "promote", "--file", file("m"), "--id", "k9").err().contains("there is no key k9"));
        assertTrue(run("keys", "derive", "--file", file("m"), "--node", "n1", "--out", file("m")).err().contains("has master keys"));
        assertEquals(before, Files.readAllLines(home.resolve("m")));
        assertTrue(run("keys", "derive", "--file", file("m"), "--out", file("n")).err().contains("give --node NAME"));
        assertTrue(run("keys", "derive", "--file", file("m"), "--node", "a/b", "--out", file("n")).err().contains("not a name of a node"));
        run("keys", "derive", "--file", file("m"), "--node", "n1", "--out", file("n1"));
        Output derived = run("keys", "derive", "--file", file("n1"), "--node", "n2", "--out", file("n2"));
        assertEquals(2, derived.code());
        assertTrue(derived.err().contains("has derived keys"), derived.err());
    }

    @Test
    void aPairForHeadsIsMadeAndReplaced() throws Exception {
        Output first = run("keys", "head", "--file", file("head.key"), "--public", file("head.pub"));
        assertEquals(0, first.code(), first.err());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(home.resolve("head.key"))));
        Output second = run("keys", "head", "--file", file("second.key"), "--public", file("head.pub"));
        HeadKeys keys = HeadKeys.read(home.resolve("head.pub"));
        assertEquals(List.of(first.out().strip(), second.out().strip()), keys.ids().stream().map("made key "::concat).toList());
        assertEquals(keys.ids().getFirst(), SigningKey.read(home.resolve("head.key"), keys).id());
        assertEquals(keys.ids().getLast(), SigningKey.read(home.resolve("second.key"), keys).id());

        assertTrue(run("keys", "head", "--file", file("head.key"), "--public", file("head.pub")).err().contains("exists"));
        Files.writeString(home.resolve("other"), "no key");
        assertTrue(run("keys", "head", "--file", file("third.key"), "--public", file("other")).err().contains("has no public key"));
        assertEquals(false, Files.exists(home.resolve("third.key")));
        assertEquals(2, HeadKeys.read(home.resolve("head.pub")).ids().size());
    }
}
