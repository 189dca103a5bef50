/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.topic.Topics;

/**
 * The log behind the operator API.
 *
 * @param kafka the cluster
 * @param topics names of the topics
 * @param codec bytes to records and back
 * @param partitions partitions of the log, 1 or more
 * @param changelog topic of the controller's state, written in the transactions of its decisions
 */
public record LogAccess(KafkaAccess kafka, Topics topics, Codec codec, int partitions, String changelog) {}
