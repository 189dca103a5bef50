/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of reads by other nodes. */
@NullMarked
package io.tierlog.controller.core.peer;

import org.jspecify.annotations.NullMarked;
