/* SPDX-License-Identifier: Apache-2.0 */
/** What asks for promotions where a block is only on a disk. No answer depends on it. */
@NullMarked
package io.tierlog.controller.directory.probe;

import org.jspecify.annotations.NullMarked;
