/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.architecture.circle.one;

import io.tierlog.controller.core.architecture.circle.two.Two;

/** Needs {@link Two}, which needs this. */
public interface One {
    /** The other half. */
    Two other();
}
