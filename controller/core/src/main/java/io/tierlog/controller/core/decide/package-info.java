/* SPDX-License-Identifier: Apache-2.0 */
/** The context of one decision: the current tables, the node it is about, and its facts and commands. */
@NullMarked
package io.tierlog.controller.core.decide;

import org.jspecify.annotations.NullMarked;
