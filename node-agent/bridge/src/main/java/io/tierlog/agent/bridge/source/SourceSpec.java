/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One address of events, as it is written on the command line and in files: the address, then key=value pairs with spaces between.
 *
 * @param endpoint ZeroMQ address of the publisher, or of this bridge where publishers connect
 * @param replay address that answers replays; empty for none
 * @param name of the engine instance; empty for the one that topics name, else the address
 * @param model name of the model; empty for the one that topics name
 * @param engine family of the engine, for the namespace
 * @param rank data-parallel rank where batches name none
 * @param topic prefix of the topics to subscribe to
 * @param bind whether publishers connect to this address
 * @param counting false where the engine announces again what it reuses
 */
public record SourceSpec(String endpoint, Optional<String> replay, String name, String model, String engine, int rank, String topic, boolean bind,
        boolean counting) {
    /** Stands for the instance of a topic in the replay address of a source to which publishers connect. */
    public static final String INSTANCE = "{instance}";

    private static final Set<String> KEYS = Set.of("replay", "name", "model", "engine", "rank", "ranks", "topic", "bind", "blocks");
    private static final Pattern ADDRESS = Pattern.compile("tcp://\\S+");
    private static final Pattern PORT = Pattern.compile("(.*:)(\\d{1,5})");
    private static final int MOST_RANKS = 1_024;
    private static final int LAST_PORT = 65_535;

    /**
     * Reads one line; {@code ranks=N} makes a source for each of N ranks, whose ports follow each other.
     *
     * @throws IllegalArgumentException when it cannot be read, with what to write instead
     */
    public static List<SourceSpec> parse(String line) {
        String[] words = line.strip().split("\\s+", -1);
        if (!ADDRESS.matcher(words[0]).matches()) {
            throw new IllegalArgumentException("'" + words[0] + "' is no address of events: write tcp://HOST:PORT, or tcp://*:PORT for "
                    + "publishers that connect" + insteadOfIpc(words[0]));
        }
        Map<String, String> options = new LinkedHashMap<>();
        for (int i = 1; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            String key = equals < 0 ? words[i] : words[i].substring(0, equals);
            if (equals < 0 || !KEYS.contains(key)) {
                throw new IllegalArgumentException("'" + words[i] + "' after " + words[0] + " is not one of "
                        + String.join(", ", KEYS.stream().sorted().toList()) + ", each as KEY=VALUE");
            }
            options.put(key, words[i].substring(equals + 1));
        }
        String replay = options.getOrDefault("replay", "");
        if (!replay.isEmpty() && !ADDRESS.matcher(replay).matches()) {
            throw new IllegalArgumentException("'replay=" + replay + "' of " + words[0] + " is no address: write replay=tcp://HOST:PORT"
                    + insteadOfIpc(replay));
        }
        boolean bind = choice(options, "bind", words[0].contains("*") ? "yes" : "no", "yes", "no").equals("yes");
        if (bind && !replay.isEmpty() && !replay.contains(INSTANCE)) {
            throw new IllegalArgumentException("'replay=" + replay + "' of " + words[0] + ", to which publishers connect, must contain " + INSTANCE
                    + ", which stands for the instance that a topic names");
        }
        boolean counting = choice(options, "blocks", "count", "count", "set").equals("count");
        int ranks = number(options, "ranks", 1, 1, MOST_RANKS);
        int rank = number(options, "rank", 0, 0, MOST_RANKS);
        List<SourceSpec> sources = new ArrayList<>();
        for (int i = 0; i < ranks; i++) {
            sources.add(new SourceSpec(ofRank(words[0], i), replay.isEmpty() ? Optional.empty() : Optional.of(ofRank(replay, i)),
                    options.getOrDefault("name", ""), options.getOrDefault("model", ""), options.getOrDefault("engine", "vllm"), rank + i,
                    options.getOrDefault("topic", ""), bind, counting));
        }
        return sources;
    }

    /** The library has no sockets of the file system: it would listen to a port that no engine knows. */
    private static String insteadOfIpc(String address) {
        return address.startsWith("ipc:") ? "; ipc is not possible: let the engine publish at tcp://127.0.0.1:PORT" : "";
    }

    private static String choice(Map<String, String> options, String key, String otherwise, String one, String other) {
        String value = options.getOrDefault(key, otherwise);
        if (!value.equals(one) && !value.equals(other)) {
            throw new IllegalArgumentException("'" + key + "=" + value + "' must be " + one + " or " + other);
        }
        return value;
    }

    private static int number(Map<String, String> options, String key, int otherwise, int least, int most) {
        String value = options.get(key);
        if (value == null) {
            return otherwise;
        }
        try {
            int number = Integer.parseInt(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + key + "=" + value + "' must be a number", e);
        }
        throw new IllegalArgumentException("'" + key + "=" + value + "' must be from " + least + " to " + most);
    }

    private static String ofRank(String address, int rank) {
        return moved(address, rank).orElseThrow(() -> new IllegalArgumentException(
                "'" + address + "' has no port that ranks could follow: give each rank a source of its own"));
    }

    /** The address of another rank: its port is that much higher, or lower; empty when there is no such port. */
    static Optional<String> moved(String address, int ranks) {
        Matcher port = PORT.matcher(address);
        if (ranks == 0) {
            return Optional.of(address);
        }
        if (!port.matches()) {
            return Optional.empty();
        }
        int number = Integer.parseInt(port.group(2)) + ranks;
        return number < 1 || number > LAST_PORT ? Optional.empty() : Optional.of(port.group(1) + number);
    }
}
