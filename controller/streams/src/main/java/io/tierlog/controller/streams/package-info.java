/* SPDX-License-Identifier: Apache-2.0 */
/** The shell around the controller's core: Kafka Streams, RocksDB, the clock, the relay, metrics and health. It contains no domain logic. */
@NullMarked
package io.tierlog.controller.streams;

import org.jspecify.annotations.NullMarked;
