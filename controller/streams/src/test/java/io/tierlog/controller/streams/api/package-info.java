/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the operator API, against a scripted controller and against a real one. */
@NullMarked
package io.tierlog.controller.streams.api;

import org.jspecify.annotations.NullMarked;
