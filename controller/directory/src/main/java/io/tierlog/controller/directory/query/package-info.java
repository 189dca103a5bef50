/* SPDX-License-Identifier: Apache-2.0 */
/** A question for keys and its answer, with how fresh it is. */
@NullMarked
package io.tierlog.controller.directory.query;

import org.jspecify.annotations.NullMarked;
