/* SPDX-License-Identifier: Apache-2.0 */
/** A directory instance: its parts put together. */
@NullMarked
package io.tierlog.controller.directory;

import org.jspecify.annotations.NullMarked;
