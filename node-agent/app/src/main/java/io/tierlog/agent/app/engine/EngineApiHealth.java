/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

/**
 * What Health answers.
 *
 * @param onTheLog whether the controller has accepted this agent
 * @param incarnation 0 when it has not
 * @param hostFreeBlocks free host pages
 * @param diskFreeBlocks free space on the disk, in blocks; 0 when there is no disk tier
 * @param waitingRequests attempts that wait for a fetch
 * @param activeOperations operations in progress
 */
public record EngineApiHealth(
        boolean onTheLog, long incarnation, int hostFreeBlocks, int diskFreeBlocks, int waitingRequests, int activeOperations) {}
