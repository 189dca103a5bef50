/* SPDX-License-Identifier: Apache-2.0 */
/** Tierlog on three brokers, all parts in containers, while brokers and parts are killed. docs/cluster.md says how to run these tests. */
@NullMarked
package io.tierlog.ops.cluster;

import org.jspecify.annotations.NullMarked;
