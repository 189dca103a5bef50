/* SPDX-License-Identifier: Apache-2.0 */
/** Decisions about the shards of the shared store: what agents report of it, its capacity, and what is deleted from it. */
@NullMarked
package io.tierlog.controller.core.store;

import org.jspecify.annotations.NullMarked;
