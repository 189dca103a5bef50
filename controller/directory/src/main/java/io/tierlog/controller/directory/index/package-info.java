/* SPDX-License-Identifier: Apache-2.0 */
/** Where the blocks of one partition are, outside of the heap. No Kafka, no HTTP, no clock. */
@NullMarked
package io.tierlog.controller.directory.index;

import org.jspecify.annotations.NullMarked;
