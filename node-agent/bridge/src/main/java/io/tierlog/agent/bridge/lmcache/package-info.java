/* SPDX-License-Identifier: Apache-2.0 */
/** How LMCache's events arrive: from a Kafka topic and over HTTP, both through one queue. */
@NullMarked
package io.tierlog.agent.bridge.lmcache;

import org.jspecify.annotations.NullMarked;
