/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of what concerns a node as a whole. */
@NullMarked
package io.tierlog.controller.core.node;

import org.jspecify.annotations.NullMarked;
