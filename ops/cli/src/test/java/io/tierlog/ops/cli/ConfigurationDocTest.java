/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.tierlog.events.config.Options;
import io.tierlog.ops.cli.audit.LogSignCommand;
import io.tierlog.ops.cli.command.OptionFlags;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.ConfigKey;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/**
 * The page docs/configuration.md equals the declared options. With {@code -Dtierlog.write.docs=true} the test writes the page instead:
 * {@code mvn -q -B -pl ops/cli -am test -Dtest=ConfigurationDocTest -Dsurefire.failIfNoSpecifiedTests=false -Dtierlog.write.docs=true}.
 */
class ConfigurationDocTest {
    private static final Path PAGE = Path.of(System.getProperty("tierlog.root"), "docs", "configuration.md");

    /** How the documentation of an option without a default names what holds then. */
    private static final Pattern ABSENT = Pattern.compile(" \\(default: ([^)]*)\\)");

    private static final String HEAD = """
            # Configuration

            This page is generated from the declared options. Do not edit it; run

                mvn -q -B -pl ops/cli -am test -Dtest=ConfigurationDocTest -Dsurefire.failIfNoSpecifiedTests=false -Dtierlog.write.docs=true

            The value of an option comes from the first of these that has it:

            1. the flag: `--prefetch-wait-ms 100`,
            2. the environment: `TIERLOG_AGENT_PREFETCH_WAIT_MS=100`, or `TIERLOG_PREFETCH_WAIT_MS=100` for every command that has the option,
            3. the settings file, `~/.tierlog.properties` or the one that `--config` names: `agent.prefetch-wait-ms=100` or `prefetch-wait-ms=100`,
            4. the default.

            With `--verbose` a program prints its effective configuration at start. An agent records it on the log, with limits as `limit.NAME`.
            """;

    /** The command that has a table first, by the text of the table. */
    private final Map<String, String> earliest = new HashMap<>();

    @Test
    void thePageEqualsTheDeclaredOptions() throws Exception {
        String page = HEAD
                + section("agent", new AgentCommand())
                + section("bridge", new BridgeCommand())
                + section("bridge publish", new BridgePublishCommand())
                + section("controller", new ControllerCommand())
                + section("dashboard", new DashboardCommand())
                + section("directory", new DirectoryCommand())
                + section("log sign", new LogSignCommand());
        if (Boolean.getBoolean("tierlog.write.docs")) {
            Files.createDirectories(PAGE.getParent());
            Files.writeString(PAGE, page);
        }
        assertEquals(Files.readString(PAGE), page, "docs/configuration.md is not up to date: its first lines have the command");
        assertFalse(page.contains(System.getProperty("user.home")), "a default names a directory of this machine");
    }

    /** The tables of a command; where an earlier command has the same one, its name stands for it. */
    private String section(String command, OptionFlags.Configured configured) {
        SequencedMap<String, StringBuilder> tables = new LinkedHashMap<>();
        for (ConfigKey key : configured.options().keys()) {
            StringBuilder table = tables.computeIfAbsent(key.group, group -> new StringBuilder("\n### ").append(group)
                    .append("\n| flag | type | default | values | meaning |\n|---|---|---|---|---|\n"));
            String flag = Options.flag(key.name);
            assertEquals(1, List.of(new CommandLine(configured).getCommandSpec().findOption(flag)).size(), flag);
            table.append("| `").append(flag).append("` | ").append(type(key)).append(" | ").append(otherwise(key)).append(" | ")
                    .append(String.valueOf(key.validator).replace("|", "\\|")).append(" | ")
                    .append(ABSENT.matcher(key.documentation).replaceFirst("").replace("|", "\\|")).append(" |\n");
        }
        StringBuilder text = new StringBuilder("\n## tierlog " + command + "\n");
        SequencedMap<String, List<String>> same = new LinkedHashMap<>();
        tables.forEach((group, table) -> {
            String earlier = earliest.putIfAbsent(table.toString(), command);
            if (earlier == null) {
                text.append(table);
            } else {
                same.computeIfAbsent(earlier, _ -> new ArrayList<>()).add(group);
            }
        });
        same.forEach((earlier, groups) -> text.append("\n").append(String.join(", ", groups)).append(": as for `tierlog ").append(earlier)
                .append("`.\n"));
        return text.toString();
    }

    private static String type(ConfigKey key) {
        return switch (key.type) {
            case BOOLEAN -> "switch";
            case INT -> "number";
            case LIST -> "list";
            default -> "text";
        };
    }

    private static String otherwise(ConfigKey key) {
        if (!key.hasDefault()) {
            return "required";
        }
        String text = key.defaultValue == null ? "" : ConfigDef.convertToString(key.defaultValue, key.type);
        Matcher absent = ABSENT.matcher(key.documentation);
        return !text.isEmpty() ? "`" + text + "`" : absent.find() ? absent.group(1) : "none";
    }
}
