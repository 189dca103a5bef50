/* SPDX-License-Identifier: Apache-2.0 */
/** What a bridge holds true of each engine that it listens to. No sockets, no log, no clock: time comes with each call. */
@NullMarked
package io.tierlog.agent.bridge.view;

import org.jspecify.annotations.NullMarked;
