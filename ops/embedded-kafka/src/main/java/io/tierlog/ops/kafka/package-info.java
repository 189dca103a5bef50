/* SPDX-License-Identifier: Apache-2.0 */
/** One Kafka broker inside the own process, for first runs and tests. Not for production: one replica, no authentication. */
@NullMarked
package io.tierlog.ops.kafka;

import org.jspecify.annotations.NullMarked;
