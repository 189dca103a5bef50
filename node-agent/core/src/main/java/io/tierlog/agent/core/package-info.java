/* SPDX-License-Identifier: Apache-2.0 */
/** The agent of one node as a state machine: page tables, pins, sessions, journal. Knows no Kafka, no CUDA, no file and no clock. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core;
