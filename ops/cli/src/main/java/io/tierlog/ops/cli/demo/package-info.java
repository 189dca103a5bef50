/* SPDX-License-Identifier: Apache-2.0 */
/** The demo: broker, controller, agents and engine model in one go, and the report of what happened, counted from the log. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.cli.demo;
