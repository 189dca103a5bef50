/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

/** Spreads keys over the index. What it gives never decides an answer: keys are compared whole. */
@FunctionalInterface
public interface KeyHash {
    /** Multiplies and folds each word; the constants are odd and arbitrary. */
    KeyHash DEFAULT = (namespace, key) -> {
        long h = (namespace * 0x9E6C_63D0_876A_3F6BL) ^ key.length();
        h = (h ^ key.word(0)) * 0xC2B2_AE3D_27D4_EB4FL;
        h ^= h >>> 32;
        h = (h ^ key.word(1)) * 0x9FB2_1C65_1E98_DF25L;
        if (key.length() > 2 * Long.BYTES) {
            h ^= h >>> 29;
            h = (h ^ key.word(2)) * 0xD6E8_FEB8_6659_FD93L;
            h ^= h >>> 31;
            h = (h ^ key.word(3)) * 0xA0761D6478BD642FL;
        }
        h ^= h >>> 32;
        h *= 0xE703_7ED1_A0B4_28DBL;
        return (int) (h ^ (h >>> 32));
    };

    /**
     * A number for a key.
     *
     * @param namespace number of the namespace within the index
     * @param key the key
     */
    int of(int namespace, KeyWords key);
}
