/* SPDX-License-Identifier: Apache-2.0 */
/** The policy as people write it: a YAML document that is read to a record and written back. What a policy must be like is the core's to say. */
@NullMarked
package io.tierlog.ops.policy;

import org.jspecify.annotations.NullMarked;
