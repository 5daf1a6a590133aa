package io.holdfast.examples.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.examples.flashsale.Report.Killing;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReportTest {

    @Test
    void twoItemsSoldToThreeBuyersKeepThePromise() {
        Report report = report(visit(1, 11, 2), visit(2, 12, 1), visit(3, 13, 0));

        assertThat(report.sold()).isEqualTo(2);
        assertThat(report.oversold()).isZero();
        assertThat(report.isPromiseKept()).isTrue();
    }

    @Test
    void anItemSoldTwiceIsOversold() {
        Report report = report(visit(1, 11, 2), visit(2, 12, 2), visit(3, 13, 1));

        assertThat(report.oversold()).isEqualTo(1);
        assertThat(report.isPromiseKept()).isFalse();
    }

    @Test
    void anUnsoldItemBreaksThePromise() {
        assertThat(report(visit(1, 11, 2), visit(2, 12, 0), visit(3, 13, 0)).isPromiseKept())
                .isFalse();
    }

    @Test
    void aBuyerAnsweredTwiceBreaksThePromise() {
        assertThat(report(visit(1, 11, 2), visit(2, 12, 1), visit(2, 13, 0)).isPromiseKept())
                .isFalse();
    }

    @Test
    void equalTokensDoNotRise() {
        Report report = report(visit(1, 11, 2), visit(2, 11, 1), visit(3, 12, 0));

        assertThat(report.areTokensRising()).isFalse();
        assertThat(report.isPromiseKept()).isFalse();
    }

    @Test
    void theKilledHoldersTokenMustRiseAtItsPlace() {
        List<Visit> visits = List.of(visit(1, 11, 2), visit(2, 13, 1), visit(3, 14, 0));

        assertThat(withKilledToken(12, visits).areTokensRising()).isTrue();
        assertThat(withKilledToken(13, visits).areTokensRising()).isFalse();
        assertThat(withKilledToken(12, visits).tokens()).containsExactly(11L, 12L, 13L, 14L);
    }

    @Test
    void percentilesAreTheNearestRank() {
        List<Visit> visits = IntStream.rangeClosed(1, 200)
                .mapToObj(i -> new Visit("A", i, i, 0, 1_000L * i))
                .toList();
        Report report = report(visits, Optional.empty());

        assertThat(report.wait(50)).isEqualTo(Duration.ofMillis(100));
        assertThat(report.wait(99)).isEqualTo(Duration.ofMillis(198));
        assertThat(report.wait(100)).isEqualTo(Duration.ofMillis(200));
    }

    @Test
    void aVisitReadBackFromItsLineIsEqual() {
        Visit visit = new Visit("C", 7, 1_795_221_156_000_001L, 3, 42);

        assertThat(Visit.parse(visit.toLine())).isEqualTo(visit);
    }

    private static Visit visit(int buyer, long token, int stockSeen) {
        return new Visit("A", buyer, token, stockSeen, 100);
    }

    private static Report report(Visit... visits) {
        return report(List.of(visits), Optional.empty());
    }

    private static Report withKilledToken(long token, List<Visit> visits) {
        return report(visits, Optional.of(new Killing("B", token, 1, 0, Duration.ofSeconds(2))));
    }

    private static Report report(List<Visit> visits, Optional<Killing> killing) {
        Settings settings = new Settings(2, 3, true, LockAddress.Kind.REDIS, false, Optional.empty());
        return new Report(settings, List.of("A", "B", "C"), visits, killing, Optional.empty(), Duration.ofSeconds(1));
    }
}
