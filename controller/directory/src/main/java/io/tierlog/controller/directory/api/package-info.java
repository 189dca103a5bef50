/* SPDX-License-Identifier: Apache-2.0 */
/** What can be asked of a directory, over HTTP and gRPC. It knows the fan that answers, and nothing of Kafka. */
@NullMarked
package io.tierlog.controller.directory.api;

import org.jspecify.annotations.NullMarked;
