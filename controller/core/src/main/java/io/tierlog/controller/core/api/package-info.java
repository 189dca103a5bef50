/* SPDX-License-Identifier: Apache-2.0 */
/** What goes into the core and what comes out: inputs, results, bounds, and the two failures that stop a partition. */
@NullMarked
package io.tierlog.controller.core.api;

import org.jspecify.annotations.NullMarked;
