/* SPDX-License-Identifier: Apache-2.0 */
/** Copies to colder tiers: operators' migrations, routes of groups, drains, and marks. */
@NullMarked
package io.tierlog.controller.core.migration;

import org.jspecify.annotations.NullMarked;
