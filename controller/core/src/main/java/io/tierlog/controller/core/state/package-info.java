/* SPDX-License-Identifier: Apache-2.0 */
/** What rows mean: pure readers that decide and evolve share. Writes nothing. */
@NullMarked
package io.tierlog.controller.core.state;

import org.jspecify.annotations.NullMarked;
