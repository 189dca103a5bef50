/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.api;

/** Version of decide and evolve. Raised whenever the same log would lead to other decisions. */
public final class CoreVersion {
    private CoreVersion() {}

    /** The version of this build. */
    public static final int CURRENT = 1;
}
