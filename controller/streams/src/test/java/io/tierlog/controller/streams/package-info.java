/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the shell: against the topology test driver, and against real brokers and processes. */
@NullMarked
package io.tierlog.controller.streams;

import org.jspecify.annotations.NullMarked;
