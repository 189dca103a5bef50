/* SPDX-License-Identifier: Apache-2.0 */
/** The directory's HTTP and gRPC APIs. The package depends on the shard fan-out and not on Kafka. */
@NullMarked
package io.tierlog.controller.directory.api;

import org.jspecify.annotations.NullMarked;
