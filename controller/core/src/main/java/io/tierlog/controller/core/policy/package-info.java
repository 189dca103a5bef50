/* SPDX-License-Identifier: Apache-2.0 */
/** Policies: defaults, groups, water marks, and what a policy must be like. Knows no node and no table. */
@NullMarked
package io.tierlog.controller.core.policy;

import org.jspecify.annotations.NullMarked;
