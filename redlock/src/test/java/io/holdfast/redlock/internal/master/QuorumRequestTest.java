package io.holdfast.redlock.internal.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.InMemoryLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.util.context.Context;

class QuorumRequestTest {

    private static final Duration LIMIT = Duration.ofMillis(50);

    private final List<Throwable> dropped = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final List<String> answers = new ArrayList<>();
    private final List<CoreSubscriber<? super String>> asked = new ArrayList<>();
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();

    private final Masters masters = new Masters(new MasterSettings(
            Collections.nCopies(3, InMemoryLockBackend.create(time)),
            List.of("one", "two", "three"),
            time,
            null,
            null,
            () -> 0.5,
            WallClock.ofSystem()));

    private final QuorumRequest<String> request =
            new QuorumRequest<>(masters, List.of(0), LIMIT, Context.empty(), new ResponseHandler<>() {
                @Override
                public void heard(int master, String answer) {
                    answers.add(answer);
                }

                @Override
                public void failed(int master, Throwable why) {
                    failures.add(why);
                }
            });

    @BeforeEach
    void collectWhatIsDropped() {
        Hooks.onErrorDropped(dropped::add);
    }

    @AfterEach
    void reset() {
        Hooks.resetOnErrorDropped();
        time.dispose();
    }

    /** The failure is on its way already when the request is cancelled. */
    private Mono<String> deafToCancellation() {
        return Mono.fromDirect(subscriber -> {
            @SuppressWarnings("unchecked")
            CoreSubscriber<? super String> waiting = (CoreSubscriber<? super String>) subscriber;
            asked.add(waiting);
            waiting.onSubscribe(Operators.emptySubscription());
        });
    }

    @Test
    void anErrorOfTheJvmInTheDriverIsTheFailureOfItsMaster() {
        request.send(master -> {
            throw new NoClassDefFoundError("once");
        });
        assertThat(failures).hasSize(1);
    }

    @Test
    void aMasterThatFailsAtItsTimeLimitIsNotLoggedAsAnError() {
        request.send(master -> deafToCancellation());
        time.advanceTimeBy(LIMIT);
        assertThat(failures).hasSize(1);

        asked.get(0).onError(new IllegalStateException("late"));

        assertThat(failures).hasSize(1);
        assertThat(dropped).isEmpty();
    }

    @Test
    void aMasterThatAnswersTwiceOrFailsAfterItsAnswerIsHeardOnce() {
        request.send(master -> deafToCancellation());
        asked.get(0).onNext("yes");
        asked.get(0).onNext("yes");
        asked.get(0).onError(new IllegalStateException("after its answer"));
        asked.get(0).onComplete();

        time.advanceTimeBy(LIMIT.multipliedBy(2));

        assertThat(answers).containsExactly("yes");
        assertThat(failures).isEmpty();
        assertThat(dropped).isEmpty();
    }

    @Test
    void aMasterThatIsNotAwaitedAnyMoreIsNotHeard() {
        request.send(master -> deafToCancellation());
        assertThat(request.stop(0)).isTrue();
        asked.get(0).onNext("yes");
        time.advanceTimeBy(LIMIT.multipliedBy(2));

        assertThat(answers).isEmpty();
        assertThat(failures).isEmpty();
        assertThat(request.isAwaiting(0)).isFalse();
    }
}
