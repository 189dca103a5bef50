/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is replayed: requests with the identities of their blocks, from a recorded trace or a seeded generator, and what an ideal
 * cache would do with them.
 */
@NullMarked
package io.tierlog.ops.engine.workload;

import org.jspecify.annotations.NullMarked;
