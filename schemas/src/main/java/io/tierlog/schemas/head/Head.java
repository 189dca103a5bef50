/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.head;

import io.tierlog.schemas.WireRecord;

/** What is signed about a log. */
public sealed interface Head extends WireRecord permits LogHead {
    /** Count of the heads of the log with this one, from 1. */
    long number();
}
