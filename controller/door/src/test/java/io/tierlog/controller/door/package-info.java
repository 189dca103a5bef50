/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.controller.door;

import org.jspecify.annotations.NullMarked;
