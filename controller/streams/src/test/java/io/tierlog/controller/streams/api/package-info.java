/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the operator's door, against a controller that is played and against a real one. */
@NullMarked
package io.tierlog.controller.streams.api;

import org.jspecify.annotations.NullMarked;
