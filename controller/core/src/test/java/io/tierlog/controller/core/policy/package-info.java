/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of policies. */
@NullMarked
package io.tierlog.controller.core.policy;

import org.jspecify.annotations.NullMarked;
