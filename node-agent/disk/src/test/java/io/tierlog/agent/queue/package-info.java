/* SPDX-License-Identifier: Apache-2.0 */
/** The bounded queue by itself, without disks. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.queue;
