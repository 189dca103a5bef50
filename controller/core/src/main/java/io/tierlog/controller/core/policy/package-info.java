/* SPDX-License-Identifier: Apache-2.0 */
/** Policies: defaults, groups, watermarks, and the rules of a valid policy. Uses no node and no table. */
@NullMarked
package io.tierlog.controller.core.policy;

import org.jspecify.annotations.NullMarked;
