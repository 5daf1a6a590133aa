package io.holdfast.zookeeper.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class AdmissionWindowTest {

    private static final int PLACES = 640;

    private final AdmissionWindow<Integer> gate = new AdmissionWindow<>();

    private int letIn() {
        int count = 0;
        while (gate.next(PLACES) != null) {
            count++;
        }
        return count;
    }

    private void add(int count) {
        for (int i = 0; i < count; i++) {
            gate.add(i);
        }
    }

    @Test
    void onlyAShareOfTheRoomIsUnderWayAtOnce() {
        add(1_000);
        assertThat(letIn()).isEqualTo(PLACES / AdmissionWindow.SHARE);
        assertThat(gate.hasToAsk())
                .as("a request for the length, as the creations will report it")
                .isFalse();
        gate.answered();
        gate.learn(PLACES / 2);
        assertThat(letIn())
                .as("claims that may enter, as more are under way than the smaller share")
                .isZero();
    }

    @Test
    void renewalsNeverWaitBehindHundredsOfLists() {
        add(1_000);
        int count = 0;
        while (gate.next(1_000_000) != null) {
            count++;
        }
        assertThat(count).isEqualTo(AdmissionWindow.MOST_UNDER_WAY);
    }

    @Test
    void fewClaimsEnterAnUnknownQueueWithoutARequest() {
        add(10);
        assertThat(letIn()).isEqualTo(10);
        for (int i = 0; i < 10; i++) {
            gate.answered();
        }
        gate.learn(10);
        assertThat(gate.isForgettable(PLACES)).isTrue();
    }

    @Test
    void lengthOfAFullQueueIsReadOnceForAllNewClaims() {
        gate.learn(PLACES);
        add(3);
        assertThat(letIn()).isZero();
        assertThat(gate.hasToAsk()).isTrue();
        assertThat(gate.hasToAsk()).as("a second request for the length").isFalse();
        gate.asked();
        gate.learn(PLACES);
        assertThat(gate.turnAway()).containsExactly(0, 1, 2);
        assertThat(gate.isIdle()).isTrue();
    }

    /** They have entered, and one of them creates the queue now. */
    @Test
    void claimsThatFoundNoQueueEnterBeforeTheOthers() {
        for (int i = 0; i < 3; i++) {
            assertThat(gate.enters(PLACES)).isTrue();
        }
        assertThat(gate.close()).isTrue();
        assertThat(gate.close()).as("for a second claim").isFalse();
        add(1);
        gate.addAgain(1);
        gate.addAgain(2);
        assertThat(gate.next(PLACES)).as("a claim that enters meanwhile").isNull();
        gate.answered();
        assertThat(gate.isIdle()).isFalse();
        assertThat(gate.hasToAsk()).isFalse();
        gate.open();
        assertThat(List.of(gate.next(PLACES), gate.next(PLACES), gate.next(PLACES)))
                .containsExactly(1, 2, 0);
    }

    @Test
    void lastPlaceGoesToOneClaim() {
        gate.learn(PLACES - 1);
        add(5);
        assertThat(letIn()).isEqualTo(1);
    }
}
