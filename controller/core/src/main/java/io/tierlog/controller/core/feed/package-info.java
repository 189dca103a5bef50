/* SPDX-License-Identifier: Apache-2.0 */
/** What the compacted topic of placements is sent for each fact. */
@NullMarked
package io.tierlog.controller.core.feed;

import org.jspecify.annotations.NullMarked;
