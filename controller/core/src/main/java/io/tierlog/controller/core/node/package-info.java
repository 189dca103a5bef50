/* SPDX-License-Identifier: Apache-2.0 */
/** What concerns a node as a whole: registration, engines, policy versions, group reassignment, cleanup of ended incarnations. */
@NullMarked
package io.tierlog.controller.core.node;

import org.jspecify.annotations.NullMarked;
