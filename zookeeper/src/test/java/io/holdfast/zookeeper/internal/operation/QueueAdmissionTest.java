package io.holdfast.zookeeper.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

class QueueAdmissionTest {

    private static final String QUEUE = "/holdfast/mutex/lock";

    private final QueueAdmission admission = new QueueAdmission(100);
    private final List<Boolean> answers = new ArrayList<>();

    private void enter(int claims) {
        for (int i = 0; i < claims; i++) {
            Disposable unused = admission.enter(QUEUE).subscribe(answers::add);
        }
    }

    @Test
    void renewalsNeverWaitBehindHundredsOfLists() {
        enter(1_000);
        assertThat(answers).hasSize(QueueAdmission.MOST_UNDER_WAY).containsOnly(true);
        admission.answered(QUEUE);
        assertThat(answers).hasSize(QueueAdmission.MOST_UNDER_WAY + 1).containsOnly(true);
    }

    @Test
    void aFullQueueRefusesThoseThatWaitToEnter() {
        enter(100);
        admission.isFull(QUEUE);
        assertThat(answers)
                .hasSize(100)
                .endsWith(Collections.nCopies(100 - QueueAdmission.MOST_UNDER_WAY, false)
                        .toArray(Boolean[]::new));
        for (int i = 0; i < QueueAdmission.MOST_UNDER_WAY; i++) {
            admission.answered(QUEUE);
        }
        assertThat(admission.remembered()).isZero();
        enter(1);
        assertThat(answers).hasSize(101).endsWith(true);
    }

    @Test
    void nothingIsRememberedOfAQueueWithoutACreationUnderWay() {
        enter(40);
        for (int i = 0; i < 40; i++) {
            admission.answered(QUEUE);
        }
        assertThat(answers).hasSize(40).containsOnly(true);
        assertThat(admission.remembered()).isZero();
    }
}
