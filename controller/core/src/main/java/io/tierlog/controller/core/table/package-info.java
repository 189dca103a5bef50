/* SPDX-License-Identifier: Apache-2.0 */
/** State as typed tables: keys and rows, their bytes, and two stores for them. Knows nothing of what the rows mean. */
@NullMarked
package io.tierlog.controller.core.table;

import org.jspecify.annotations.NullMarked;
