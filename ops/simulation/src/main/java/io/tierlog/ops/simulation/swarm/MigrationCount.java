/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import java.util.Locale;

/** What is counted of migration in an episode: what operators asked for, and what came of it. */
public enum MigrationCount {
    ASKED_COPY("operators ask for copies"),
    ASKED_MARK("operators ask for marks"),
    ASKED_BOTH("operators ask for copies, and for marks where none can be begun"),
    ASKED_SAMPLED("of these, the blocks are sampled"),
    ASKED_DRY("of these, nothing shall be done"),
    ASKED_WRONGLY("operators ask for what cannot be"),
    ASKED_AGAIN("operators ask under an id that is taken"),
    CANCEL("operators take a migration back"),
    CLEAR("operators clear marks"),
    DRAIN("operators drain a node"),
    UNDRAIN("operators take a drain back"),
    SUBMITTED("copies of migrations that were begun"),
    BY_ROUTE("of these, by a route"),
    BY_OPERATOR("of these, by an operator"),
    BY_DRAIN("of these, by a drain"),
    DONE("of these, done"),
    FAILED("of these, failed"),
    CANCELLED("of these, cancelled"),
    FENCED("of these, fenced"),
    SOURCES_DROPPED("blocks that left their tier after a migration"),
    REJECTED("blocks that are not migrated, with a reason"),
    MARKED("blocks that were marked"),
    MARKS_CONSUMED("marks that led a write"),
    MARKS_EXPIRED("marks whose time was over"),
    MARKS_CLEARED("marks that were cleared"),
    REGROUPED("steps in which blocks were put into other groups"),
    QUOTA_EXCEEDED("writes and fetches that a quota did not allow"),
    GROUP_LEVELS("water levels of groups that were crossed"),
    CHECKED_AGAINST_QUOTA("placements that were held against a quota"),
    CHECKED_ELSEWHERE("blocks that left a host or a disk and were looked for where they must be"),
    LOST_AFTER_SEEN("of these, the store had them when the drop came, and lost them since");

    private final String meaning;

    MigrationCount(String meaning) {
        this.meaning = meaning;
    }

    /** What it is, as a sentence without its end. */
    public String meaning() {
        return meaning;
    }

    /** As it is printed. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
