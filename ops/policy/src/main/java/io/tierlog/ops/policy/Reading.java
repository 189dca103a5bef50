/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

import io.tierlog.schemas.Policy;
import java.util.List;

/** What became of a document. */
public sealed interface Reading {
    /** It is a policy that every controller takes. */
    record Valid(Policy policy) implements Reading {}

    /** It was understood, and is no policy: everything that is wrong with it, in the order of its lines. */
    record Invalid(List<Finding> findings) implements Reading {}

    /** It is no YAML, or more than is read. */
    record Unreadable(Finding finding) implements Reading {}
}
