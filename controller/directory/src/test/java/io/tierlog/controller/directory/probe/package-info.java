/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.controller.directory.probe;

import org.jspecify.annotations.NullMarked;
