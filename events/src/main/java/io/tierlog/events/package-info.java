/* SPDX-License-Identifier: Apache-2.0 */
/** The log as Kafka holds it: names and settings of topics, which partition a record belongs to, bytes to records and back, reading. */
@NullMarked
package io.tierlog.events;

import org.jspecify.annotations.NullMarked;
