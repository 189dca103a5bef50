/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.controller.directory.index.PlacementIndex.Found;
import java.util.List;

/** Answers that a test makes up. */
public final class AnswersForTests {
    private AnswersForTests() {}

    /** Fresh ones. */
    public static Answers of(Question question, List<Found> found) {
        Answers answers = new Answers(question);
        for (int i = 0; i < found.size(); i++) {
            answers.put(i, found.get(i));
        }
        return answers;
    }
}
