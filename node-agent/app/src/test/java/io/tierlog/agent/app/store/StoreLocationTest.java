/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StoreLocationTest {
    @ParameterizedTest
    @CsvSource({"/srv/store, /srv/store", "store, store", "file:/srv/store, /srv/store", "file:///srv/a%20b, /srv/a b", "a:b, a:b"})
    void aPathIsADirectory(String text, String path) {
        assertEquals(new StoreLocation.Files(Path.of(path)), StoreLocation.parse(text));
    }

    @Test
    void s3HasABucketAndParameters() {
        assertEquals(
                new StoreLocation.S3("kv", "", Optional.empty(), Optional.empty(), false, new StoreLocation.Access(Duration.ofSeconds(10), 16)),
                StoreLocation.parse("s3://kv"));
        assertEquals(
                new StoreLocation.S3("kv_1", "a/b", Optional.of(URI.create("http://minio:9000")), Optional.of("eu-1"), true,
                        new StoreLocation.Access(Duration.ofMillis(500), 4)),
                StoreLocation.parse("s3://kv_1/a/b/?endpoint=http://minio:9000&region=eu-1&timeout-ms=500&connections=4"));
    }

    @Test
    void redisHasAHostAndParameters() {
        assertEquals(
                new StoreLocation.Redis("cache", 6_379, 0, "tierlog", false, Optional.empty(), Optional.empty(),
                        new StoreLocation.Access(Duration.ofSeconds(2), 16)),
                StoreLocation.parse("redis://cache"));
        assertEquals(
                new StoreLocation.Redis("cache", 7_000, 3, "kv:1", true, Optional.of("agent"), Optional.of(Path.of("/run/secret")),
                        new StoreLocation.Access(Duration.ofSeconds(2), 16)),
                StoreLocation.parse("rediss://cache:7000/3?prefix=kv%3A1&user=agent&password-file=/run/secret"));
    }

    /** An underscore is in no name of the DNS, and in those of containers. */
    @Test
    void aHostWithAnUnderscoreHasAPortToo() {
        assertEquals(
                new StoreLocation.Redis("my_redis", 6_380, 0, "tierlog", false, Optional.empty(), Optional.empty(),
                        new StoreLocation.Access(Duration.ofSeconds(2), 16)),
                StoreLocation.parse("redis://my_redis:6380/0"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "http://a/b                      | 'http://a/b' is not a store: a directory, file:/PATH, s3://",
        "s3:///prefix                    | 's3:///prefix': it names no bucket",
        "s3://kv?endpoint=minio:9000     | endpoint is http://HOST:PORT or https://HOST:PORT, not 'minio:9000'",
        "s3://kv?path-style=yes          | path-style is true or false, not 'yes'",
        "s3://kv?prefix=a                | 'prefix' is not a parameter; there are connections, endpoint, path-style, region, timeout-ms",
        "s3://kv?region=a&region=b       | each parameter is NAME=VALUE, and given once: 'region'",
        "redis://                        | is not a URL",
        "redis:///1                      | it names no host",
        "redis://a/x                     | 'x' is not the number of a database",
        "redis://a:70000/0               | port 70000 is not between 1 and 65535",
        "redis://a_b:0                   | port 0 is not between 1 and 65535",
        "redis://a?timeout-ms=99         | timeout-ms is 100 to 600000, not '99'",
        "redis://a?connections=0         | connections is 1 to 1024, not '0'",
    })
    void aWrongLocationSaysWhatIsWrong(String text, String message) {
        String why = String.valueOf(assertThrows(IllegalArgumentException.class, () -> StoreLocation.parse(text)).getMessage());
        assertTrue(why.contains(message), why);
    }

    @Test
    void aPasswordInTheUrlIsRefusedAndNotRepeated() {
        for (String scheme : new String[] {"redis", "rediss", "s3"}) {
            String why = String.valueOf(
                    assertThrows(IllegalArgumentException.class, () -> StoreLocation.parse(scheme + "://user:hunter2@host/0")).getMessage());
            assertTrue(why.contains("password-file") && !why.contains("hunter2"), why);
        }
    }

    @Test
    void aPasswordFileThatCannotBeReadIsReported() {
        String why = String.valueOf(assertThrows(
                IllegalArgumentException.class, () -> StoreLocation.parse("redis://a?password-file=/no/file").open(false)).getMessage());
        assertTrue(why.contains("/no/file"), why);
    }
}
