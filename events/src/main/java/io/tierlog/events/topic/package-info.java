/* SPDX-License-Identifier: Apache-2.0 */
/** The names of the topics. */
@NullMarked
package io.tierlog.events.topic;

import org.jspecify.annotations.NullMarked;
