/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.topic;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * The topics of one log: their names, and the settings they are created with. Immutable.
 *
 * @param prefix what every name begins with; two logs in one cluster differ in it. Letters, digits, dot, dash, underscore, 1 to 100
 */
public record Topics(String prefix) {
    private static final Pattern LEGAL = Pattern.compile("[A-Za-z0-9._-]{1,100}");
    private static final String FOR_EVER = "-1";
    private static final String ONE_DAY = String.valueOf(TimeUnit.DAYS.toMillis(1));
    private static final String NINETY_DAYS = String.valueOf(TimeUnit.DAYS.toMillis(90));

    /** The topics of a cluster that holds one log. */
    public static final Topics DEFAULT = new Topics("tierlog");

    /** Refuses a prefix that Kafka would refuse. */
    public Topics {
        if (!LEGAL.matcher(prefix).matches()) {
            throw new IllegalArgumentException("topic prefix '" + prefix + "' is not 1 to 100 letters, digits, dots, dashes or underscores");
        }
    }

    /**
     * How one topic is kept.
     *
     * @param ofEachLog whether every log has it, with as many partitions as the other topics; else it has one partition, and older logs lack it
     */
    public record Spec(String name, boolean ofEachLog, Map<String, String> settings) {
        /** Copies the settings. */
        public Spec {
            settings = Map.copyOf(settings);
        }

        /** Its partitions in a log with so many. */
        public int partitions(int ofLog) {
            return ofEachLog ? ofLog : 1;
        }
    }

    /** Default application id of the controllers of the log. Logs in one cluster must not share a group and a changelog. */
    public String controllers() {
        return prefix + "-controller";
    }

    /** Default application id of the directories of the log. */
    public String directories() {
        return prefix + "-directory";
    }

    /** Default application id of the live pages of the log. */
    public String dashboards() {
        return prefix + "-dashboard";
    }

    /** Everything reported: by agents, operators, the clock and the relay. Plain producers only, kept for ever. */
    public String events() {
        return prefix + ".events";
    }

    /** Everything decided, with its cause. Written in transactions, kept for ever. */
    public String decisions() {
        return prefix + ".decisions";
    }

    /** Intents for agents; an old one is stale anyway. */
    public String commands() {
        return prefix + ".commands";
    }

    /** What one aggregate tells another, on its way through the relay. */
    public String messages() {
        return prefix + ".messages";
    }

    /** Where every copy of every block is, for directories and routers; compacted. */
    public String placements() {
        return prefix + ".placements";
    }

    /** What could not be read, as it was, with the error in the headers. */
    public String deadLetters() {
        return prefix + ".dead-letters";
    }

    /** Signed heads: where events and decisions ended, with digests of their records. One partition; only {@code log sign} writes and audits read. */
    public String heads() {
        return prefix + ".heads";
    }

    /** All seven, in the order they are made. */
    public List<Spec> specs() {
        return List.of(
                spec(events(), "cleanup.policy", "delete", "retention.ms", FOR_EVER, "retention.bytes", FOR_EVER),
                spec(decisions(), "cleanup.policy", "delete", "retention.ms", FOR_EVER, "retention.bytes", FOR_EVER),
                spec(commands(), "cleanup.policy", "delete", "retention.ms", ONE_DAY),
                spec(messages(), "cleanup.policy", "delete", "retention.ms", ONE_DAY),
                spec(placements(), "cleanup.policy", "compact", "min.cleanable.dirty.ratio", "0.2"),
                spec(deadLetters(), "cleanup.policy", "delete", "retention.ms", NINETY_DAYS),
                new Spec(heads(), false, settings("cleanup.policy", "delete", "retention.ms", FOR_EVER, "retention.bytes", FOR_EVER)));
    }

    private static Spec spec(String name, String... settings) {
        return new Spec(name, true, settings(settings));
    }

    /** By default a broker refuses records whose time is an hour ahead of its own: those of all others, when its clock is set back. */
    private static Map<String, String> settings(String... settings) {
        Map<String, String> all = new HashMap<>(Map.of("message.timestamp.after.max.ms", String.valueOf(Long.MAX_VALUE)));
        for (int i = 0; i < settings.length; i += 2) {
            all.put(settings[i], settings[i + 1]);
        }
        return all;
    }
}
