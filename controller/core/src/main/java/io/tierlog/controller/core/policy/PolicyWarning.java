/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.policy;

import io.tierlog.schemas.ConfigWarningKind;
import io.tierlog.schemas.Tier;

/**
 * Something in a policy that can be used, and will hardly do what was meant.
 *
 * @param kind what it is
 * @param group the group
 * @param source source of the route
 * @param target target of the route
 * @param detail what will happen, and what to do; names group and route
 */
public record PolicyWarning(ConfigWarningKind kind, String group, Tier source, Tier target, String detail) {}
