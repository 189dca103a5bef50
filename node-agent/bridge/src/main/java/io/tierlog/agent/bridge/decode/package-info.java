/* SPDX-License-Identifier: Apache-2.0 */
/** What engines put on the wire about their blocks, in all dialects. No sockets, no log, no clock. */
@NullMarked
package io.tierlog.agent.bridge.decode;

import org.jspecify.annotations.NullMarked;
