/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.events.config.OptionValues;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where a store is: what {@code --store} names. Immutable. */
public sealed interface StoreLocation {
    /** The forms, for messages. */
    String FORMS = "a directory, file:/PATH, s3://BUCKET/PREFIX or redis://HOST:PORT/DATABASE";

    /** A directory that all nodes mount. */
    record Files(Path directory) implements StoreLocation {
        @Override
        public String toString() {
            return directory.toString();
        }
    }

    /**
     * What bounds calls to a server.
     *
     * @param timeout of one call, retries included, 100 ms to 10 minutes
     * @param connections most at a time, 1 to 1,024; calls above wait for one
     */
    record Access(Duration timeout, int connections) {}

    /**
     * A bucket of S3, or of a server that speaks its protocol.
     *
     * @param prefix of all keys, without slashes at its ends; may be empty
     * @param endpoint of a server that is not Amazon's
     * @param pathStyle whether the bucket stands in the path instead of the host name
     */
    record S3(String bucket, String prefix, Optional<URI> endpoint, Optional<String> region, boolean pathStyle, Access access)
            implements StoreLocation {
        @Override
        public String toString() {
            return "s3://" + bucket + (prefix.isEmpty() ? "" : "/" + prefix) + endpoint.map(own -> " at " + own).orElse("");
        }
    }

    /**
     * A database of Redis or Valkey.
     *
     * @param prefix of all keys
     * @param tls whether the connection is encrypted, and the server's certificate checked
     * @param user of the server's access list; empty for the default one
     * @param passwordFile its first line is the password; empty for none
     */
    record Redis(
            String host, int port, int database, String prefix, boolean tls, Optional<String> user, Optional<Path> passwordFile, Access access)
            implements StoreLocation {
        @Override
        public String toString() {
            return (tls ? "rediss://" : "redis://") + host + ":" + port + "/" + database;
        }
    }

    /**
     * Reads a location.
     *
     * @throws IllegalArgumentException when it is in none of the forms, says what to write instead
     */
    static StoreLocation parse(String text) {
        return switch (text.contains(":/") ? text.substring(0, text.indexOf(":/")) : "") {
            case "" -> new Files(OptionValues.path(text));
            case "file" -> new Files(file(text));
            case "s3" -> s3(new Url(text));
            case "redis" -> redis(new Url(text), false);
            case "rediss" -> redis(new Url(text), true);
            default -> throw new IllegalArgumentException("'" + text + "' is not a store: " + FORMS);
        };
    }

    /**
     * Opens the store. A store that cannot be used now may come back: until then every call says so.
     *
     * @param fsync of a directory: whether an object counts as stored only when it would survive a loss of power
     * @throws IllegalArgumentException when a file that the location names cannot be read, or S3's region is not known
     */
    default SharedStore open(boolean fsync) {
        return switch (this) {
            case Files files -> DirectoryStore.open(
                    files.directory(), new DirectoryStore.Options(fsync, DirectoryStore.Options.DEFAULTS.leftoverAge()));
            case S3 s3 -> new RemoteStore(S3Objects.open(s3), s3.access().timeout(), InstantSource.system());
            case Redis redis -> new RemoteStore(RedisObjects.open(redis), redis.access().timeout(), InstantSource.system());
        };
    }

    private static Path file(String text) {
        try {
            return Path.of(new URI(text));
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new IllegalArgumentException("'" + text + "' is not file:/PATH: " + e.getMessage(), e);
        }
    }

    private static S3 s3(Url url) {
        url.allow(Set.of("endpoint", "region", "path-style", "timeout-ms", "connections"));
        Optional<URI> endpoint = url.find("endpoint").map(text -> url.address(text));
        boolean pathStyle = url.find("path-style").map(text -> url.flag("path-style", text)).orElse(endpoint.isPresent());
        String prefix = url.path().replaceAll("^/+|/+$", "");
        return new S3(url.host(), prefix, endpoint, url.find("region"), pathStyle, url.access(10_000));
    }

    private static Redis redis(Url url, boolean tls) {
        url.allow(Set.of("prefix", "user", "password-file", "timeout-ms", "connections"));
        String database = url.path().replaceFirst("^/", "");
        if (!database.matches("\\d{0,4}")) {
            throw url.wrong("'" + database + "' is not the number of a database");
        }
        return new Redis(url.host(), url.port(6_379), database.isEmpty() ? 0 : Integer.parseInt(database),
                url.find("prefix").orElse("tierlog"), tls, url.find("user"), url.find("password-file").map(OptionValues::path), url.access(2_000));
    }

    /** A URL in its parts; every error names it. */
    final class Url {
        private static final Pattern PORT = Pattern.compile(":(\\d+)$");
        private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._-]{1,255}|\\[[0-9a-fA-F:.]+]");

        private final String text;
        private final URI uri;
        private final Map<String, String> parameters = new TreeMap<>();

        Url(String text) {
            this.text = text;
            try {
                uri = new URI(text);
            } catch (URISyntaxException e) {
                throw new IllegalArgumentException("'" + text + "' is not a URL: " + e.getReason(), e);
            }
            String query = uri.getRawQuery() == null ? "" : uri.getRawQuery();
            for (String one : query.isEmpty() ? new String[0] : query.split("&", -1)) {
                String[] parts = one.split("=", 2);
                if (parts.length < 2 || parameters.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8)) != null) {
                    throw wrong("each parameter is NAME=VALUE, and given once: '" + parts[0] + "'");
                }
            }
            if (uri.getRawAuthority() != null && uri.getRawAuthority().contains("@")) {
                throw new IllegalArgumentException(uri.getScheme() + "://: a password in a command line can be read by others: give"
                        + " user=NAME and password-file=FILE to redis, and AWS_ACCESS_KEY_ID or a profile to s3");
            }
        }

        void allow(Set<String> known) {
            for (String name : parameters.keySet()) {
                if (!known.contains(name)) {
                    throw wrong("'" + name + "' is not a parameter; there are " + String.join(", ", known.stream().sorted().toList()));
                }
            }
        }

        String host() {
            // getHost() is null for names with underscores, which buckets may have.
            String authority = uri.getRawAuthority() == null ? "" : uri.getRawAuthority().replaceFirst(":\\d*$", "");
            if (!HOST.matcher(authority).matches()) {
                throw wrong("it names no " + (uri.getScheme().equals("s3") ? "bucket" : "host"));
            }
            return authority;
        }

        int port(int usual) {
            // getPort() is -1 beside such a name.
            Matcher port = PORT.matcher(uri.getRawAuthority() == null ? "" : uri.getRawAuthority());
            if (!port.find()) {
                return usual;
            }
            int number = port.group(1).length() > 5 ? 0 : Integer.parseInt(port.group(1));
            if (number < 1 || number > 65_535) {
                throw wrong("port " + port.group(1) + " is not between 1 and 65535");
            }
            return number;
        }

        String path() {
            return uri.getPath() == null ? "" : uri.getPath();
        }

        Optional<String> find(String name) {
            return Optional.ofNullable(parameters.get(name));
        }

        boolean flag(String name, String value) {
            return switch (value) {
                case "true" -> true;
                case "false" -> false;
                default -> throw wrong(name + " is true or false, not '" + value + "'");
            };
        }

        URI address(String value) {
            if (!value.matches("https?://[^/?#@]+/?")) {
                throw wrong("endpoint is http://HOST:PORT or https://HOST:PORT, not '" + value + "'");
            }
            return URI.create(value);
        }

        Access access(int timeoutMs) {
            return new Access(Duration.ofMillis(number("timeout-ms", timeoutMs, 100, 600_000)), number("connections", 16, 1, 1_024));
        }

        private int number(String name, int usual, int least, int most) {
            String value = parameters.getOrDefault(name, String.valueOf(usual));
            if (!value.matches("\\d{1,9}") || Integer.parseInt(value) < least || Integer.parseInt(value) > most) {
                throw wrong(name + " is " + least + " to " + most + ", not '" + value + "'");
            }
            return Integer.parseInt(value);
        }

        IllegalArgumentException wrong(String why) {
            return new IllegalArgumentException("'" + text + "': " + why);
        }
    }
}
