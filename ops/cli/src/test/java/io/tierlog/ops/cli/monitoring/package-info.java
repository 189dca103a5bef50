/* SPDX-License-Identifier: Apache-2.0 */
/** The list of metrics, the dashboards and the alert rules: each is made from code here, and tests compare it with what is checked in. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.cli.monitoring;
