/* SPDX-License-Identifier: Apache-2.0 */
/** The directory as a Kafka Streams application, and the routing of queries between its instances. */
@NullMarked
package io.tierlog.controller.directory.streams;

import org.jspecify.annotations.NullMarked;
