package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
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
    private final List<CoreSubscriber<? super String>> asked = new ArrayList<>();
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();

    private final Masters masters = new Masters(
            RedlockBackend.builder(
                    Stream.generate(() -> new Master(time)).limit(3).toList()),
            time);

    private final QuorumRequest<String> request = new QuorumRequest<>(
            masters, List.of(0), new TimeLimits(LIMIT, new FirstContacts(3)), Context.empty(), new ResponseHandler<>() {
                @Override
                public void heard(int master, String answer) {
                    throw new AssertionError("no master answers");
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

    /** Its failure is on its way already when it is cancelled. */
    private Mono<String> deafToCancellation() {
        return Mono.fromDirect(subscriber -> {
            @SuppressWarnings("unchecked")
            CoreSubscriber<? super String> waiting = (CoreSubscriber<? super String>) subscriber;
            asked.add(waiting);
            waiting.onSubscribe(Operators.emptySubscription());
        });
    }

    @Test
    void aMasterThatFailsWhenItsTimeIsUpIsNoErrorForTheLog() {
        request.ask(master -> deafToCancellation());
        time.advanceTimeBy(LIMIT);
        assertThat(failures).hasSize(1);

        asked.get(0).onError(new IllegalStateException("late"));

        assertThat(failures).hasSize(1);
        assertThat(dropped).isEmpty();
    }
}
