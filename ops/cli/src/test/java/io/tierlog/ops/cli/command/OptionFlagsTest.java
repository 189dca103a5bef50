/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.events.config.Bounds;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.ops.cli.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Declared options as flags: where their values come from, and how a wrong one is refused. */
class OptionFlagsTest {
    @TempDir
    Path home;

    private final Sample sample = new Sample();
    private final StringWriter err = new StringWriter();

    @Test
    void anOptionThatIsNotGivenHasItsDefault() {
        OptionValues values = values(Map.of(), "--name", "a");
        assertEquals("a", values.text("name"));
        assertEquals(7, values.number("some.count"));
        assertTrue(values.flag("open"));
        assertFalse(values.flag("slow"));
        assertEquals(List.of(), values.list("each"));
        assertFalse(values.has("file"));
        assertEquals(Map.of("name", "a", "some.count", "7", "open", "true", "slow", "false", "each", "none", "file", "none"), values.effective());
    }

    @Test
    void aFlagWinsOverTheEnvironmentAndThatOverTheFile() throws Exception {
        Files.writeString(home.resolve(".tierlog.properties"), "sample.some-count=3\nname=file\neach=x,y\nslow=true\nopen=false\n");
        OptionValues values = values(Map.of());
        assertEquals(List.of("file", 3, List.of("x", "y"), true, false),
                List.of(values.text("name"), values.number("some.count"), values.list("each"), values.flag("slow"), values.flag("open")));
        values = values(Map.of("TIERLOG_SOME_COUNT", "4", "TIERLOG_SAMPLE_EACH", "z"));
        assertEquals(List.of(4, List.of("z")), List.of(values.number("some.count"), values.list("each")));
        values = values(Map.of("TIERLOG_SOME_COUNT", "4"), "--some-count", "5", "--each", "p,q", "--each", "r", "--open", "--slow");
        assertEquals(List.of(5, List.of("p", "q", "r"), true, true),
                List.of(values.number("some.count"), values.list("each"), values.flag("open"), values.flag("slow")));
        assertFalse(values(Map.of(), "--no-open").flag("open"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--some-count 10 | error: --some-count: 10 is not between 1 and 9",
        "--some-count x  | error: --some-count: 'x' is not a whole number, 1 to 9",
        "--some-count 10 --each y,wrong | error: --some-count: 10 is not between 1 and 9; --each: 'wrong' is wrong",
        "--some-coun 3   | error: Unknown options: '--some-coun', '3'",
        "--some-count 3 --some-count 4 | error: option '--some-count' (N) should be specified only once",
        "--some-count    | error: Missing required parameter for option '--some-count' (N)",
    })
    void aWrongFlagIsRefusedWithAHint(String flags, String message) {
        assertEquals(2, run(Map.of(), ("--name a " + flags).split(" ")));
        assertTrue(err.toString().startsWith(message), err.toString());
        assertTrue(err.toString().contains("hint: ") || err.toString().contains("Possible solutions"), err.toString());
    }

    @Test
    void aWrongValueOfTheEnvironmentIsRefusedByTheNameOfItsFlag() {
        assertEquals(2, run(Map.of("TIERLOG_SOME_COUNT", "0"), "--name", "a"));
        assertTrue(err.toString().startsWith("error: --some-count: 0 is not between 1 and 9"), err.toString());
    }

    @Test
    void anOptionThatMustBeGivenIsNamed() {
        assertEquals(2, run(Map.of()));
        assertTrue(err.toString().startsWith("error: Missing required option: '--name=NAME'"), err.toString());
    }

    @Test
    void aDefaultOutsideItsBoundsIsAnErrorOfTheProgram() {
        Options options = new Options().group("G", Importance.LOW);
        assertThrows(RuntimeException.class, () -> options.number("n", 0, 1, 2, "N", "A number."));
    }

    private OptionValues values(Map<String, String> environment, String... flags) {
        assertEquals(0, run(environment, flags), err.toString());
        return sample.values.getLast();
    }

    private int run(Map<String, String> environment, String... flags) {
        err.getBuffer().setLength(0);
        CommandLine line = new CommandLine(new Main());
        line.addSubcommand(new CommandLine(sample));
        line.setErr(new PrintWriter(err, true));
        List<String> all = new ArrayList<>(List.of("sample"));
        all.addAll(List.of(flags));
        return Main.run(line, all, environment, home);
    }

    /** A command with one option of each kind. */
    @Command(name = "sample", description = "Only for this test.", modelTransformer = OptionFlags.class)
    static final class Sample implements Callable<Integer>, OptionFlags.Configured {
        final List<OptionValues> values = new ArrayList<>();

        @Spec
        CommandSpec spec;

        @Override
        public Options options() {
            return new Options().group("G", Importance.LOW)
                    .required("name", Bounds.NONE, "NAME", "The name.")
                    .number("some.count", 7, 1, 9, "N", "A count.")
                    .on("open", "Whether it is open.")
                    .off("slow", "Whether it is slow.")
                    .list("each", Bounds.form("", text -> {
                        if (text.equals("wrong")) {
                            throw new IllegalArgumentException("'wrong' is wrong");
                        }
                    }), "X", "Some.")
                    .option("file", ConfigDef.Type.STRING, null, Bounds.PATH, "FILE", "A file.");
        }

        @Override
        public Integer call() {
            values.add(ClusterOptions.checked(() -> OptionFlags.values(spec, options())));
            return 0;
        }
    }
}
