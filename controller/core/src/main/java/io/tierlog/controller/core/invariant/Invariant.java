/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.invariant;

/** What holds at every offset, unless its text begins with "at rest": nothing in flight, every lease end passed. */
public enum Invariant {
    I1("every lease has exactly one end; at rest no pin is left"),
    I2("a destination page belongs to one operation alone between an operation's start and its terminal event"),
    I3("neither is a source page"),
    I4("the pages of a tier add up to its capacity, and no page is in two states"),
    I5("every request ends once, and then owns nothing but what its unfinished operations pin"),
    I6("at rest nothing waits that could go on"),
    I7("a terminal event comes only when the stream or file is idle for that attempt"),
    I8("a placement serves only after a Done event that names it, with that generation"),
    I9("what is read under a key is what was written under it"),
    I10("no block leaves a tier while a block that extends it still serves there"),
    I11("no policy drop relies on a placement that is not leased to it or seen by the agent at execution, and every last copy that is lost is"
            + " counted"),
    I12("operations started = done + failed + cancelled + fenced"),
    I13("the state is the fold of the decisions, and the decisions answer the events");

    private final String meaning;

    Invariant(String meaning) {
        this.meaning = meaning;
    }

    /** Its meaning, one line for people. */
    public String meaning() {
        return meaning;
    }
}
