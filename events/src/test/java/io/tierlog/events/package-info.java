/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the log as Kafka holds it. */
@NullMarked
package io.tierlog.events;

import org.jspecify.annotations.NullMarked;
