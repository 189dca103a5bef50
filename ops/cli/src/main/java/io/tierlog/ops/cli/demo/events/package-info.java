/* SPDX-License-Identifier: Apache-2.0 */
/** Model engines that only publish events, and a router that asks one directory about them and about the engines that Tierlog serves. */
@NullMarked
package io.tierlog.ops.cli.demo.events;

import org.jspecify.annotations.NullMarked;
