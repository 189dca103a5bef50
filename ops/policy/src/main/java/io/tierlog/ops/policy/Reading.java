/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

import io.tierlog.schemas.Policy;
import java.util.List;

/** The result of reading a document. */
public sealed interface Reading {
    /** It is a valid policy. */
    record Valid(Policy policy) implements Reading {}

    /** It is not a valid policy: all findings, in the order of its lines. */
    record Invalid(List<Finding> findings) implements Reading {}

    /** It is not YAML, or over a limit. */
    record Unreadable(Finding finding) implements Reading {}
}
