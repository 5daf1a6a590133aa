package io.holdfast.testkit.history;

import static io.holdfast.testkit.history.WrittenHistory.MUTEX;
import static io.holdfast.testkit.history.WrittenHistory.READ;
import static io.holdfast.testkit.history.WrittenHistory.WRITE;
import static io.holdfast.testkit.history.WrittenHistory.semaphore;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TokenCheckTest {

    private final WrittenHistory written = new WrittenHistory();
    private final TokenCheck check = new TokenCheck();

    @Test
    void risingTokensAreFine() {
        written.held(MUTEX, 0, 1, 5, 7).held(MUTEX, 0, 5, 9, 8).held(MUTEX, 3, 12, 13, 20);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void aLowerTokenOfALaterOwnerIsFoundAndQuoted() {
        written.held(MUTEX, 0, 1, 5, 11).held(MUTEX, 0, 6, 9, 3);
        assertThat(written.violations(check))
                .singleElement()
                .satisfies(violation -> assertThat(violation.message())
                        .contains("later owner has a lower token")
                        .contains("p1#1")
                        .contains("p2#1"));
    }

    @Test
    void theSameTokenTwiceIsFound() {
        written.held(MUTEX, 0, 1, 5, 7).held(MUTEX, 0, 6, 9, 7);
        assertThat(written.violations(check))
                .singleElement()
                .satisfies(violation -> assertThat(violation.message()).contains("same token"));
    }

    @Test
    void concurrentReadersMayGetTheirTokensInAnyOrder() {
        written.held(READ, 0, 3, 10, 7)
                .held(READ, 0, 2, 10, 8)
                .held(semaphore(2), 0, 3, 9, 5)
                .held(semaphore(2), 0, 4, 9, 4);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void aReaderAfterAnotherReadersLeaseHasAHigherToken() {
        written.held(READ, 0, 3, 10, 7).held(READ, 4, 5, 10, 6);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void aLaterPermitHasAHigherTokenThanAllBefore() {
        written.held(semaphore(3), 0, 1, 20, 9).held(semaphore(3), 0, 2, 20, 5).held(semaphore(3), 3, 5, 20, 8);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void aWriterAfterReadersHasAHigherTokenThanEach() {
        written.held(READ, 0, 1, 3, 9).held(READ, 0, 2, 3, 7).held(WRITE, 0, 4, 5, 8);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void aReaderAfterAWriterHasAHigherToken() {
        written.held(WRITE, 0, 1, 3, 9).held(READ, 0, 4, 5, 8);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void whereOwnersMayOverlapOnlyTheOrderOfRequestsCounts() {
        written.held(MUTEX, 0, 4, 9, 11).held(MUTEX, 0, 5, 9, 3);
        assertThat(written.violations(TokenCheck.withoutExclusion())).isEmpty();
        written.held(MUTEX, 6, 7, 9, 10);
        assertThat(written.violations(TokenCheck.withoutExclusion())).hasSize(1);
    }

    @Test
    void onlyConcurrentReadersMayShareAToken() {
        TokenCheck ofRedlock = check.whereReadersMayShare();
        written.held(READ, 0, 3, 9, 7).held(READ, 1, 4, 9, 7);
        assertThat(written.violations(ofRedlock)).isEmpty();
        assertThat(written.violations(check)).hasSize(1);
        written.held(READ, 5, 6, 9, 7);
        assertThat(written.violations(ofRedlock)).hasSize(1);
    }

    @Test
    void writersNeverShareAToken() {
        written.held(WRITE, 0, 3, 4, 7).held(READ, 0, 5, 9, 7);
        assertThat(written.violations(check.whereReadersMayShare())).hasSize(1);
    }

    @Test
    void anAcquisitionOfUnknownOutcomeMayHaveUsedUpAToken() {
        long unused = written.process().asked(0, MUTEX);
        written.held(MUTEX, 0, 1, 5, 1).held(MUTEX, 0, 6, 9, 3);
        assertThat(written.violations(check)).isEmpty();
    }

    @Test
    void anOperationThatContinuesALeaseHasItsToken() {
        written.held(WRITE, 0, 1, 5, 7)
                .heldOn(READ, 5, 6, 9, 7, 7)
                .held(READ, 6, 7, 9, 8)
                .heldOn(READ, 9, 10, 12, 7, 7);
        assertThat(written.violations(check)).isEmpty();
        written.heldOn(READ, 12, 13, 14, 7, 9);
        assertThat(written.violations(check))
                .singleElement()
                .satisfies(
                        violation -> assertThat(violation.message()).contains("continues a lease has another token"));
    }

    @Test
    void anExporterThatBelievesAfterItsExportIsFound() {
        written.held(READ, 0, 1, 9, 7).heldOn(READ, 5, 6, 12, 7, 7);
        assertThat(written.violations(check)).hasSize(1);
    }

    @Test
    void aWriterInBetweenIsFound() {
        written.held(WRITE, 0, 1, 5, 7).held(WRITE, 0, 6, 7, 8).heldOn(READ, 5, 8, 9, 7, 7);
        assertThat(written.violations(check)).hasSize(1);
    }
}
