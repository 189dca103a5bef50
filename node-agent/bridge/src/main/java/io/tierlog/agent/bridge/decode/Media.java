/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.decode;

import io.tierlog.schemas.Tier;
import java.util.Locale;

/** Which tier an engine's medium is. Without state. */
public final class Media {
    /** Locality of what several instances share. */
    static final String REMOTE = "REMOTE";

    private static final String CACHE_MEMORY = "LMCACHE-L1";

    private Media() {}

    /**
     * The tier.
     *
     * @param shared whether the publisher speaks of a pool that engines share
     * @return UNKNOWN for a medium that is not known: to guess one would be wrong
     */
    public static Tier tier(EngineEvent.Place place, boolean shared) {
        String medium = place.medium().toUpperCase(Locale.ROOT);
        return switch (medium) {
            case "GPU" -> Tier.DEVICE;
            case "CPU", "CPU_PINNED", "L1", CACHE_MEMORY -> Tier.HOST;
            case "DISK", "FS" -> Tier.DISK;
            case "STORAGE" -> place.locality().equalsIgnoreCase("LOCAL") ? Tier.DISK : Tier.STORE;
            case "EXTERNAL", "REMOTE", "OBJ", "SHARED_STORAGE", "OBJECT_STORE" -> Tier.STORE;
            case "L2" -> shared ? Tier.STORE : Tier.DISK;
            default -> {
                boolean pool = shared || place.locality().equals(REMOTE);
                yield medium.startsWith("LMCACHE-L2-") ? pool ? Tier.STORE : Tier.DISK
                        : medium.startsWith(CACHE_MEMORY + "-") ? Tier.HOST : Tier.UNKNOWN;
            }
        };
    }
}
