/* SPDX-License-Identifier: Apache-2.0 */
/** The live page: a Kafka Streams application over the log, and the server of its pages. Start at {@link io.tierlog.ops.dashboard.DashboardApp}. */
@NullMarked
package io.tierlog.ops.dashboard;

import org.jspecify.annotations.NullMarked;
