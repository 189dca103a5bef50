/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.controller.directory.streams;

import org.jspecify.annotations.NullMarked;
