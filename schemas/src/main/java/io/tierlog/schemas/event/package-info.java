/* SPDX-License-Identifier: Apache-2.0 */
/** What arrives in tierlog.events: everything reported, by agents, engines, operators, the clock and the relay. */
@org.jspecify.annotations.NullMarked
package io.tierlog.schemas.event;
