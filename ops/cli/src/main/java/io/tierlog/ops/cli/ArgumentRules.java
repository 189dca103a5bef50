/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.events.config.Bounds;
import io.tierlog.events.config.OptionValues;
import io.tierlog.ops.simulation.swarm.FaultKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigDef.ConfigKey;
import org.apache.kafka.common.config.ConfigException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * What the values of options and parameters may be, checked between the parse of the command line and the begin of the command: nothing is
 * contacted or written for a command line that is wrong. A declared option has the bounds of its declaration; the others have a row here, by
 * command and flag, by flag, or by the label of their value. Static and without state.
 */
final class ArgumentRules {
    /** What is allowed, as the end of "X is not ...", and the test of it. */
    private record Rule(String allowed, Predicate<Object> takes) {}

    private static final Rule NOT_EMPTY = text("a text: it is empty", ".*\\S.*");
    private static final Rule FILE = new Rule("a file that can be read", value -> Files.isRegularFile(path(value)) && Files.isReadable(path(value)));
    private static final Rule NEW_FILE = new Rule("a file in a directory that is there", value -> Files.isDirectory(parent(path(value))));
    private static final Rule DIRECTORY = new Rule("a directory", value -> !value.toString().isBlank() && Files.isDirectory(path(value)));
    private static final Rule KEY = text("a key: 8 to 32 bytes in hexadecimal digits", "([0-9a-fA-F]{2}){8,32}");
    private static final Rule DURATION = text("a time, for example 500ms, 60s or 5m", "0*[1-9]\\d{0,8}(ms|s|m|h|d)");
    private static final Rule MOMENT = text("a moment: PARTITION:OFFSET, TOPIC-PARTITION@OFFSET, a time (2026-01-31T12:00:00Z), or end",
            "end|\\d{1,18}|\\d{1,9}:\\d{1,18}|.+-\\d{1,9}@\\d{1,18}|\\d{4}-\\d\\d-\\d\\dT[0-9:.]+(Z|[+-]\\d\\d:\\d\\d)");
    private static final Rule POSITIVE = whole(1, Integer.MAX_VALUE);
    private static final Rule COUNT = whole(0, Integer.MAX_VALUE);

    private static final Map<String, Rule> RULES = new HashMap<>();

    static {
        // By the label of the value.
        RULES.put("FILE", FILE);
        RULES.put("KEY", KEY);
        RULES.put("HEX", KEY);
        RULES.put("MOMENT", MOMENT);
        RULES.put("TIME", DURATION);
        RULES.put("URL", new Rule("http://HOST:PORT", value -> isAllowed(Bounds.URL, value)));
        RULES.put("HOST:PORT", new Rule("HOST:PORT, several with commas", value -> isAllowed(Bounds.SERVERS, value)));
        RULES.put("PORT", whole(0, 65_535));
        RULES.put("N", POSITIVE);
        RULES.put("MS", COUNT);
        RULES.put("US", whole(0, 1_000_000));
        RULES.put("SECONDS", POSITIVE);
        RULES.put("SHARE", number("a share, above 0 and at most 1", 0, 1));
        // By flag.
        RULES.put("--series", NEW_FILE);
        RULES.put("--bytes-per-block", NOT_EMPTY);
        RULES.put("--seed", new Rule("a whole number", value -> true));
        RULES.put("--based-on", whole(0, Long.MAX_VALUE));
        RULES.put("--threads", whole(1, 1_024));
        RULES.put("--nodes", whole(1, 256));
        RULES.put("--partitions", whole(1, 1_024));
        RULES.put("--replication-factor", whole(1, Short.MAX_VALUE));
        RULES.put("--rounds", whole(1, 100));
        RULES.put("--from", text("host or disk", "(?i)host|disk"));
        RULES.put("snapshot create --to", NOT_EMPTY);
        RULES.put("snapshot restore --from", NOT_EMPTY);
        RULES.put("--to", text("disk or store", "(?i)disk|store"));
        RULES.put("--method", text("copy, mark or both", "(?i)copy|mark|both"));
        RULES.put("--retention", text("delete-source or keep-both", "(?i)delete[-_]source|keep[-_]both"));
        RULES.put("--one-tier", text("a share of the unique blocks, more than 0% and at most 100%",
                "(?!0{1,3}(\\.0+)?%)(100(\\.0+)?|\\d{1,2}(\\.\\d{1,6})?)%"));
        RULES.put("--record-cache", whole(0, 8L << 30));
        RULES.put("--cell-ms", whole(10, 600_000));
        RULES.put("--clients", whole(1, 256));
        RULES.put("--present", whole(0, 100));
        RULES.put("--batches", whole(1, 1_024));
        RULES.put("--block-bytes", whole(512, 64 << 20));
        RULES.put("--depth", whole(1, 64));
        RULES.put("--rate", whole(1, 20_000));
        RULES.put("--seconds", whole(1, 600));
        RULES.put("--work", number("a number of seconds, 0.1 to 600", Math.nextDown(0.1), 600));
        RULES.put("--host-blocks", whole(1_000, 1_000_000));
        RULES.put("--compression", text("none, lz4, zstd, snappy or gzip", "none|lz4|zstd|snappy|gzip"));
        RULES.put("--minutes", number("a number of minutes, above 0", 0, Double.MAX_VALUE));
        RULES.put("--episodes", whole(1, Long.MAX_VALUE));
        RULES.put("--agent-kills", whole(0, 1_000));
        RULES.put("--controller-kills", whole(0, 1_000));
        RULES.put("--controller-away", text("a span of requests, FROM-TO, for example 200-400", "\\d{1,9}-\\d{1,9}"));
        RULES.put("--flood", whole(0, 100));
        RULES.put("--speed", number("a number, 0 or more", -Double.MIN_VALUE, Double.MAX_VALUE));
        RULES.put("--warm-up", COUNT);
        RULES.put("--prefetch-threshold", COUNT);
        RULES.put("--commit-interval-ms", whole(5, 10_000));
        RULES.put("--prefetch-wait-ms", whole(1, 60_000));
        RULES.put("--faults", new Rule("a kind of fault, as a run prints them, or none",
                value -> value.equals("none") || FaultKind.labelled(value.toString()).isPresent()));
        RULES.put("--agents", text("NODE=ADDRESS, the address HOST:PORT or unix:PATH", "unix:.+|.+:\\d{1,5}"));
        // By command and flag.
        RULES.put("bench control --blocks", whole(1, 4_096));
        RULES.put("bench control --events", NOT_EMPTY);
        RULES.put("bench control --partitions", whole(1, 64));
        RULES.put("bench dashboard --browsers", whole(1, 50));
        RULES.put("bench dashboard --core", whole(0, 1_023));
        RULES.put("bench dashboard --heap-mb", whole(64, 65_536));
        RULES.put("bench dashboard --nodes", whole(1, 2_000));
        RULES.put("bench dashboard --partitions", whole(1, 64));
        RULES.put("bench dashboard --past-hours", whole(0, 23));
        RULES.put("bench dashboard --rate", whole(1, 100_000));
        RULES.put("bench dashboard --seconds", whole(3, 86_400));
        RULES.put("bench directory --blocks", whole(1_024, 50_000_000));
        RULES.put("bench directory --partitions", whole(1, 64));
        RULES.put("bench restore --partitions", whole(1, 64));
        RULES.put("bench restore --placements", whole(1, 8_000_000));
        RULES.put("bench transfer --blocks", whole(1, 65_536));
        RULES.put("bench transfer --disk", DIRECTORY);
        RULES.put("bench transfer --store", DIRECTORY);
        RULES.put("bench transfer --s3mock", FILE);
        RULES.put("demo --nodes", whole(1, 64));
        RULES.put("demo --rounds", whole(1, 50));
        RULES.put("--gpu-hour-price", number("a price, 0 or more", -Double.MIN_VALUE, 1e9));
        RULES.put("--sweep", text("KEY=V1,V2, for example host=1%,5%", "[a-z_.-]+=[^,=]+(,[^,=]+)*"));
        RULES.put("--timeout", whole(1, 3_600));
        RULES.put("log trim --keep-hours", whole(0, 87_600));
        RULES.put("log retain --keep-hours", whole(0, 87_600));
        RULES.put("log trim --keep-mb", whole(0, Integer.MAX_VALUE));
        RULES.put("log retain --keep-mb", whole(0, Integer.MAX_VALUE));
        RULES.put("log retain --keep-snapshots", whole(1, 1_000));
        RULES.put("store gc --store", NOT_EMPTY);
        RULES.put("store gc --older-than-hours", whole(1, 87_600));
        RULES.put("whatif --route", text("round-robin, sticky, prefix or recorded", "round-robin|sticky|prefix|recorded"));
        RULES.put("whatif --nodes", whole(1, 64));
        RULES.put("whatif calibrate --out", NEW_FILE);
        RULES.put("simulate --directory", DIRECTORY);
        RULES.put("simulate --threads", whole(1, 1_024));
    }

    private ArgumentRules() {}

    private static Rule whole(long least, long most) {
        String range = most == Long.MAX_VALUE || most == Integer.MAX_VALUE ? least + " or more" : least + " to " + most;
        return new Rule("a whole number, " + range,
                value -> value instanceof Number number && number.longValue() >= least && number.longValue() <= most);
    }

    /** More than {@code above} and at most {@code most}. */
    private static Rule number(String allowed, double above, double most) {
        return new Rule(allowed, value -> value instanceof Number number && number.doubleValue() > above && number.doubleValue() <= most);
    }

    private static Rule text(String allowed, String pattern) {
        Pattern compiled = Pattern.compile(pattern, Pattern.DOTALL);
        return new Rule(allowed, value -> compiled.matcher(value.toString()).matches());
    }

    private static boolean isAllowed(Bounds bounds, Object value) {
        try {
            bounds.ensureValid("", value.toString());
            return true;
        } catch (ConfigException e) {
            return false;
        }
    }

    private static Path parent(Path file) {
        Path parent = file.toAbsolutePath().getParent();
        return parent == null ? file : parent;
    }

    private static Path path(Object value) {
        return value instanceof Path path ? path : Path.of(value.toString());
    }

    /**
     * Checks every value of the command that will run, whether it comes from the command line, the environment or the settings file.
     *
     * @throws ParameterException with every value that cannot be, by its flag
     */
    static void check(ParseResult parsed) {
        ParseResult last = parsed;
        while (last.hasSubcommand()) {
            last = last.subcommand();
        }
        CommandSpec command = last.commandSpec();
        if (last.isUsageHelpRequested() || last.isVersionHelpRequested() || parsed.isUsageHelpRequested() || parsed.isVersionHelpRequested()) {
            return;
        }
        List<String> wrong = new ArrayList<>();
        for (ArgSpec argument : command.args()) {
            Object value = argument.getValue();
            boolean given = argument instanceof OptionSpec option ? last.hasMatchedOption(option) : value != null;
            boolean settings = argument instanceof OptionSpec option && option.longestName().equals(Settings.CONFIG_FLAG);
            if (value != null && !settings && (given || !value.toString().isBlank())) { // a blank default stands for none
                problem(command, argument, value).ifPresent(wrong::add);
            }
        }
        if (!wrong.isEmpty()) {
            throw new ParameterException(command.commandLine(), String.join("; ", wrong));
        }
    }

    private static Optional<String> problem(CommandSpec command, ArgSpec argument, Object value) {
        String name = name(argument) + ": ";
        if (value instanceof Boolean) {
            return Optional.empty();
        }
        if (argument.userObject() instanceof ConfigKey key) {
            return OptionValues.problem(key, value).map(name::concat);
        }
        Optional<Rule> rule = rule(command, argument);
        for (Object one : value instanceof Collection<?> many ? many : value instanceof Map<?, ?> map ? map.values() : List.of(value)) {
            if (rule.isPresent() && (one.toString().isBlank() || !rule.get().takes.test(one))) {
                return Optional.of(name + "'" + Bounds.shown(one.toString()) + "' is not " + rule.get().allowed);
            }
        }
        return Optional.empty();
    }

    /** What the argument may be, for a value that has another type; empty when there is no rule. */
    static Optional<String> allowed(ArgSpec argument) {
        return argument.userObject() instanceof ConfigKey key
                ? Optional.of(String.valueOf(key.validator)).filter(text -> !text.isEmpty())
                : rule(argument.command(), argument).map(Rule::allowed);
    }

    /** The flag, or the label of a parameter. */
    static String name(ArgSpec argument) {
        return argument instanceof OptionSpec option ? option.longestName() : argument.paramLabel();
    }

    private static Optional<Rule> rule(CommandSpec command, ArgSpec argument) {
        String flag = name(argument);
        String full = command.qualifiedName().replaceFirst("^\\S+ ?", "") + " " + flag;
        boolean ofMigrate = full.startsWith("migrate ");
        for (String key : List.of(full, !ofMigrate && List.of("--from", "--to").contains(flag) ? "MOMENT" : flag, argument.paramLabel())) {
            Rule found = RULES.get(key);
            if (found != null) {
                return Optional.of(found);
            }
        }
        Class<?> type = argument.typeInfo().isMultiValue() ? argument.auxiliaryTypes()[argument.auxiliaryTypes().length - 1] : argument.type();
        return type == String.class || type == Path.class ? Optional.of(NOT_EMPTY) : Optional.empty();
    }
}
