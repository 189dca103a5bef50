/* SPDX-License-Identifier: Apache-2.0 */
/** The operator API: requests go to the log, and responses come from the log's committed state. */
@NullMarked
package io.tierlog.controller.streams.api;

import org.jspecify.annotations.NullMarked;
