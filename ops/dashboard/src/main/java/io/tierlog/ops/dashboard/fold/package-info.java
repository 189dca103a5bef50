/* SPDX-License-Identifier: Apache-2.0 */
/** Folds the records of one partition into the rows of the live page. Pure: no Kafka, no clock. */
@NullMarked
package io.tierlog.ops.dashboard.fold;

import org.jspecify.annotations.NullMarked;
