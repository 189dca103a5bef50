/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

/**
 * A serving placement of a block.
 *
 * @param location where
 * @param incarnation incarnation of the node that holds it; 0 in the store
 * @param index position of the block in its prompt, from 0
 * @param generation of the page or object
 */
public record BlockPlacement(Location location, long incarnation, int index, long generation) {}
