/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.architecture.circle.two;

import io.tierlog.controller.core.architecture.circle.one.One;

/** Needs {@link One}, which needs this. */
public interface Two {
    /** The other half. */
    One other();
}
