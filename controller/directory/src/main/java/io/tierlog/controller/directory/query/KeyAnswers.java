/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.query;

import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.index.Presence;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The answers to one {@link KeyQuery}, collected from partitions. One thread; complete once the fan-out returns it. */
public final class KeyAnswers {
    private static final Found UNKNOWN = new Found(Presence.UNKNOWN, List.of());

    private final byte[] presences;
    private final @Nullable Found @Nullable [] found;
    private Freshness freshness = Freshness.NOTHING_ASKED;

    public KeyAnswers(KeyQuery question) {
        presences = new byte[question.count()];
        Arrays.fill(presences, Presence.UNKNOWN.code());
        found = question.placements() ? new @Nullable Found[question.count()] : null;
    }

    /** Presence of each key, by the codes of {@link Presence}; read only. */
    public byte[] presences() {
        return presences;
    }

    /** The lookup result for a key. */
    public Presence presence(int number) {
        return Presence.of(presences[number]);
    }

    /** Where a block is. */
    public Found found(int number) {
        if (found == null) {
            throw new IllegalStateException("placements were not requested");
        }
        Found one = found[number];
        return one == null ? UNKNOWN : one;
    }

    /** Whether placements were requested. */
    public boolean withPlacements() {
        return found != null;
    }

    /** How old the answers may be. */
    public Freshness freshness() {
        return freshness;
    }

    public void put(int number, Found one) {
        presences[number] = one.presence().code();
        if (found != null) {
            found[number] = one;
        }
    }

    public void with(Freshness other) {
        freshness = freshness.and(other);
    }
}
