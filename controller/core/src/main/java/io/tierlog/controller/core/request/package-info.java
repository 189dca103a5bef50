/* SPDX-License-Identifier: Apache-2.0 */
/** Requests from submission to end: matching, fetching, transitions. */
@NullMarked
package io.tierlog.controller.core.request;

import org.jspecify.annotations.NullMarked;
