/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.api;

import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.SkipReason;

/** The result of an input for its sender. */
public sealed interface Outcome {
    /** It was applied. */
    record Applied() implements Outcome {}

    /** The input was valid but changed nothing; the facts contain an InputRefused, AgentRefused or PolicyRefused with the same reason. */
    record Refused(RefusalReason reason, String detail) implements Outcome {}

    /** The record is not an input; the facts contain an InputSkipped. */
    record Skipped(SkipReason reason) implements Outcome {}

    /** The only instance of {@link Applied} that the core returns. */
    Outcome APPLIED = new Applied();
}
