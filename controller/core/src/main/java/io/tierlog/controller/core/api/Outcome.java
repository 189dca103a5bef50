/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.api;

import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.SkipReason;

/** The result of an input for its sender. */
public sealed interface Outcome {
    /** It was applied. */
    record Applied() implements Outcome {}

    /** It was understood and changes nothing; the facts have an InputRefused, AgentRefused or PolicyRefused that says the same. */
    record Refused(RefusalReason reason, String detail) implements Outcome {}

    /** It is no input; the facts have an InputSkipped. */
    record Skipped(SkipReason reason) implements Outcome {}

    /** The one instance of {@link Applied} that the core gives out. */
    Outcome APPLIED = new Applied();
}
