/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.controller.directory.index;

import org.jspecify.annotations.NullMarked;
