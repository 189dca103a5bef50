/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

/**
 * The bounds of a {@link RegistryClient}, checked once, here.
 *
 * @param connectTimeoutMs to open one connection
 * @param requestTimeoutMs for one request, connection and the whole reply included
 * @param callTimeoutMs for one call of the client with all its repetitions
 * @param rounds how often each base URL is asked in one call, at least 2 (an unknown id is believed when two answers agree)
 * @param backoffMs pause after the first round without an answer; doubled after each further one, half of it by chance
 * @param backoffMaxMs the longest pause, and the advice to callers when all was in vain
 * @param maxReplyBytes the longest reply that is read
 * @param maxCached entries in each of the caches
 * @param unknownForMs how long an unknown id is answered without asking again; 0 asks every time
 */
public record RegistryLimits(
        int connectTimeoutMs,
        int requestTimeoutMs,
        int callTimeoutMs,
        int rounds,
        int backoffMs,
        int backoffMaxMs,
        int maxReplyBytes,
        int maxCached,
        int unknownForMs) {
    /** 2 s to connect, 5 s for a request, 15 s for a call of up to three rounds, 1 MiB a reply, 10,000 entries a cache, 5 s. */
    public static final RegistryLimits DEFAULTS = new RegistryLimits(2_000, 5_000, 15_000, 3, 100, 2_000, 1 << 20, 10_000, 5_000);

    /** Refuses limits that bound nothing or cannot be met. */
    public RegistryLimits {
        within("connectTimeoutMs", connectTimeoutMs, 1, 60_000);
        within("requestTimeoutMs", requestTimeoutMs, 1, 60_000);
        within("callTimeoutMs", callTimeoutMs, requestTimeoutMs, 600_000);
        within("rounds", rounds, 2, 10);
        within("backoffMs", backoffMs, 1, 60_000);
        within("backoffMaxMs", backoffMaxMs, backoffMs, 60_000);
        within("maxReplyBytes", maxReplyBytes, 256, 16 << 20);
        within("maxCached", maxCached, 1, 1_000_000);
        within("unknownForMs", unknownForMs, 0, 600_000);
    }

    private static void within(String name, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(name + " = " + value + " is outside " + least + " to " + most);
        }
    }
}
