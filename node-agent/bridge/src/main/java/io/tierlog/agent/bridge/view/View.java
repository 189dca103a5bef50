/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import java.util.List;

/**
 * How whole the view of an engine instance is.
 *
 * @param unknown namespaces in which its blocks are unknown; none when the view is whole
 * @param reason why, for people
 * @param lostFrom first batch that is lost for good; -1 when none is named
 * @param lostTo last one, inclusive; -1 when none is named
 */
public record View(List<String> unknown, String reason, long lostFrom, long lostTo) {}
