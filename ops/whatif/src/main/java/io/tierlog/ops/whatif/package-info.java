/* SPDX-License-Identifier: Apache-2.0 */
/** What another policy would have done: retention policies over traces and generated workloads, next to LRU and the clairvoyant optimum. */
@NullMarked
package io.tierlog.ops.whatif;

import org.jspecify.annotations.NullMarked;
