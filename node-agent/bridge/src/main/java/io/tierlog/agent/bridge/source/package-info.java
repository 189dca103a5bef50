/* SPDX-License-Identifier: Apache-2.0 */
/** The sockets of engines: subscriptions and replays. */
@NullMarked
package io.tierlog.agent.bridge.source;

import org.jspecify.annotations.NullMarked;
