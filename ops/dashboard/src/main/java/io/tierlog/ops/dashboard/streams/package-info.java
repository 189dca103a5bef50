/* SPDX-License-Identifier: Apache-2.0 */
/** The Kafka Streams application that feeds the folds, with their rows in its stores. */
@NullMarked
package io.tierlog.ops.dashboard.streams;

import org.jspecify.annotations.NullMarked;
