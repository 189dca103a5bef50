/* SPDX-License-Identifier: Apache-2.0 */
/** The context of one decision: the tables as they are now, the node it is about, and the facts and commands so far. */
@NullMarked
package io.tierlog.controller.core.decide;

import org.jspecify.annotations.NullMarked;
