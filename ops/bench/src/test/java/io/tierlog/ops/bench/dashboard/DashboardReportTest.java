/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.ops.bench.dashboard.DashboardBench.Sample;
import io.tierlog.ops.bench.report.Row;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The lag of a page, and the verdict. */
final class DashboardReportTest {
    private static final List<Row> EACH_SECOND = List.of(new Row().with("page", "overview").with("updates_per_s", 0.9));

    private static List<Sample> lagging(long... ms) {
        return LongStream.of(ms).mapToObj(lag -> new Sample(0, 0, new Timeline.Lag(lag, lag), 1)).toList();
    }

    /** 10 records at 1,000 ms, 10 more at 1,500 ms, 10 more at 2,000 ms. */
    @Test
    void aLagIsTheAgeOfTheFirstRecordThatIsMissed() {
        Timeline timeline = new Timeline();
        timeline.note(1_000, 10);
        timeline.note(1_500, 20);
        timeline.note(2_000, 30);

        assertEquals(new Timeline.Lag(0, 0), timeline.of(1_400, 10));
        assertEquals(new Timeline.Lag(10, 100), timeline.of(1_600, 10));
        assertEquals(new Timeline.Lag(20, 700), timeline.of(2_200, 10));
        assertEquals(new Timeline.Lag(15, 700), timeline.of(1_700, 5), "of the first ten five are missed");
        assertEquals(new Timeline.Lag(0, 0), timeline.of(2_200, 30));
    }

    @Test
    void pointsOfTheSameMomentAreOne() {
        Timeline timeline = new Timeline();
        timeline.note(1_000, 10);
        timeline.note(1_003, 20);

        assertEquals(new Timeline.Lag(20, 100), timeline.of(1_100, 0), "as if all had been there from 1,000 ms on");
    }

    @Test
    void aPageThatIsLaterAndLaterDoesNotKeepUp() {
        assertEquals("yes", DashboardReport.keepsUp(1, DashboardReport.lags(lagging(9_000, 9_000, 500, 20, 20, 20)), EACH_SECOND));
        assertEquals("no: at the end it is 9.0 s behind",
                DashboardReport.keepsUp(1, DashboardReport.lags(lagging(20, 20, 500, 20, 9_000, 9_000)), EACH_SECOND));
    }

    @Test
    void aPageThatComesRarelyOrNotDoesNotKeepUp() {
        List<Row> lags = DashboardReport.lags(lagging(20, 20, 20));

        assertEquals("no: a page comes every 4.0 s",
                DashboardReport.keepsUp(1, lags, List.of(new Row().with("page", "nodes").with("updates_per_s", 0.25))));
        assertEquals("no: the overview did not come", DashboardReport.keepsUp(1, List.of(), EACH_SECOND));
    }

    @Test
    void aLogBelowItsRateSaysNothing() {
        assertEquals("not known: the log was written at 50 % of the rate",
                DashboardReport.keepsUp(0.5, DashboardReport.lags(lagging(20, 20, 20)), EACH_SECOND));
    }

    @Test
    void theLastCoreOfAList() {
        assertEquals(1, OneCore.last("0-1"));
        assertEquals(8, OneCore.last("0-3,8"));
        assertEquals(5, OneCore.last("5"));
    }
}
