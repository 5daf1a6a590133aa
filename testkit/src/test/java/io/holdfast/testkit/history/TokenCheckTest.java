package io.holdfast.testkit.history;

import static io.holdfast.testkit.history.Told.MUTEX;
import static io.holdfast.testkit.history.Told.READ;
import static io.holdfast.testkit.history.Told.WRITE;
import static io.holdfast.testkit.history.Told.semaphore;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TokenCheckTest {

    private final Told told = new Told();
    private final TokenCheck check = new TokenCheck();

    @Test
    void risingTokensAreFine() {
        told.held(MUTEX, 0, 1, 5, 7).held(MUTEX, 0, 5, 9, 8).held(MUTEX, 3, 12, 13, 20);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void aLowerTokenOfALaterOwnerIsFoundAndQuoted() {
        told.held(MUTEX, 0, 1, 5, 11).held(MUTEX, 0, 6, 9, 3);
        assertThat(told.violations(check))
                .singleElement()
                .satisfies(violation -> assertThat(violation.message())
                        .contains("later owner has a lower token")
                        .contains("p1#1")
                        .contains("p2#1"));
    }

    @Test
    void theSameTokenTwiceIsFound() {
        told.held(MUTEX, 0, 1, 5, 7).held(MUTEX, 0, 6, 9, 7);
        assertThat(told.violations(check))
                .singleElement()
                .satisfies(violation -> assertThat(violation.message()).contains("same token"));
    }

    @Test
    void readersThatAskedAtOneTimeMayBeToldInAnyOrder() {
        told.held(READ, 0, 3, 10, 7)
                .held(READ, 0, 2, 10, 8)
                .held(semaphore(2), 0, 3, 9, 5)
                .held(semaphore(2), 0, 4, 9, 4);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void aReaderThatAskedAfterAnotherOneHadItsLeaseHasAHigherToken() {
        told.held(READ, 0, 3, 10, 7).held(READ, 4, 5, 10, 6);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void aPermitThatWasAskedForLaterHasAHigherTokenThanAllBefore() {
        told.held(semaphore(3), 0, 1, 20, 9).held(semaphore(3), 0, 2, 20, 5).held(semaphore(3), 3, 5, 20, 8);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void aWriterAfterReadersHasAHigherTokenThanEach() {
        told.held(READ, 0, 1, 3, 9).held(READ, 0, 2, 3, 7).held(WRITE, 0, 4, 5, 8);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void aReaderAfterAWriterHasAHigherToken() {
        told.held(WRITE, 0, 1, 3, 9).held(READ, 0, 4, 5, 8);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void whereOwnersMayOverlapOnlyTheOrderOfAskingCounts() {
        told.held(MUTEX, 0, 4, 9, 11).held(MUTEX, 0, 5, 9, 3);
        assertThat(told.violations(TokenCheck.withoutExclusion())).isEmpty();
        told.held(MUTEX, 6, 7, 9, 10);
        assertThat(told.violations(TokenCheck.withoutExclusion())).hasSize(1);
    }

    @Test
    void onlyReadersThatAskedAtOneTimeMayShareAToken() {
        TokenCheck ofRedlock = check.whereReadersMayShare();
        told.held(READ, 0, 3, 9, 7).held(READ, 1, 4, 9, 7);
        assertThat(told.violations(ofRedlock)).isEmpty();
        assertThat(told.violations(check)).hasSize(1);
        told.held(READ, 5, 6, 9, 7);
        assertThat(told.violations(ofRedlock)).hasSize(1);
    }

    @Test
    void writersNeverShareAToken() {
        told.held(WRITE, 0, 3, 4, 7).held(READ, 0, 5, 9, 7);
        assertThat(told.violations(check.whereReadersMayShare())).hasSize(1);
    }

    @Test
    void anAcquisitionOfUnknownOutcomeMayHaveUsedUpAToken() {
        long unused = told.process().asked(0, MUTEX);
        told.held(MUTEX, 0, 1, 5, 1).held(MUTEX, 0, 6, 9, 3);
        assertThat(told.violations(check)).isEmpty();
    }

    @Test
    void oneThatGoesOnHasTheTokenOfTheLeaseBefore() {
        told.held(WRITE, 0, 1, 5, 7)
                .heldOn(READ, 5, 6, 9, 7, 7)
                .held(READ, 6, 7, 9, 8)
                .heldOn(READ, 9, 10, 12, 7, 7);
        assertThat(told.violations(check)).isEmpty();
        told.heldOn(READ, 12, 13, 14, 7, 9);
        assertThat(told.violations(check))
                .singleElement()
                .satisfies(violation -> assertThat(violation.message()).contains("goes on has another token"));
    }

    @Test
    void anExporterThatGoesOnBelievingIsFound() {
        told.held(READ, 0, 1, 9, 7).heldOn(READ, 5, 6, 12, 7, 7);
        assertThat(told.violations(check)).hasSize(1);
    }

    @Test
    void aWriterThatCameInBetweenIsFound() {
        told.held(WRITE, 0, 1, 5, 7).held(WRITE, 0, 6, 7, 8).heldOn(READ, 5, 8, 9, 7, 7);
        assertThat(told.violations(check)).hasSize(1);
    }
}
