/* SPDX-License-Identifier: Apache-2.0 */
/** What leaves a tier, when, and how: watermarks, eviction rules and the picker of eviction candidates. */
@NullMarked
package io.tierlog.controller.core.eviction;

import org.jspecify.annotations.NullMarked;
