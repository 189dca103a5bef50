/* SPDX-License-Identifier: Apache-2.0 */
/** The directory as a Kafka Streams application, and who of several instances answers what. */
@NullMarked
package io.tierlog.controller.directory.streams;

import org.jspecify.annotations.NullMarked;
