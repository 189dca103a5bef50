/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of metrics and health. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.app.status;
