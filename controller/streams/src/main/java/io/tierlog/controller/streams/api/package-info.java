/* SPDX-License-Identifier: Apache-2.0 */
/** The operator's door: what operators ask goes onto the log, what they are told is what the log's committed state says. */
@NullMarked
package io.tierlog.controller.streams.api;

import org.jspecify.annotations.NullMarked;
