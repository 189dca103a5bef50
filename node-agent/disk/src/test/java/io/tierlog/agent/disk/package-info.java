/* SPDX-License-Identifier: Apache-2.0 */
/** The disk tier's tests: the contract of its port, every failure of a disk by name, real full disks and killed processes, a random model. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.disk;
