/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of requests. */
@NullMarked
package io.tierlog.controller.core.request;

import org.jspecify.annotations.NullMarked;
