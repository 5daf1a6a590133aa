package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.NAME;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockLostException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

/**
 * If the work emits an element while its subscriber cancels, or its lease is lost, the element goes to the discard
 * hook, which may own buffers.
 */
class DiscardTest {

    @RegisterExtension
    final World world = new World();

    private final TestPublisher<String> work =
            TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
    private final List<Object> discarded = new ArrayList<>();
    private final List<Object> dropped = new ArrayList<>();

    @BeforeEach
    void recordDroppedElements() {
        Hooks.onNextDropped(dropped::add);
    }

    @AfterEach
    void forgetTheHook() {
        Hooks.resetOnNextDropped();
    }

    private TestSubscriber<String> begun() {
        TestSubscriber<String> result = TestSubscriber.create();
        Flux.from(world.lock().withLockMany(lease -> deaf()))
                .doOnDiscard(String.class, discarded::add)
                .subscribe(result);
        return result;
    }

    /** Returns work that ignores a cancellation, like work on another thread that gets it too late. */
    private Flux<String> deaf() {
        return Flux.from(subscriber -> work.subscribe(subscriber));
    }

    @Test
    void anElementThatRacesACancellationIsDiscarded() {
        TestSubscriber<String> result = begun();
        work.next("passed on");
        result.cancel();

        work.next("too late");

        assertThat(result.getReceivedOnNext()).containsExactly("passed on");
        assertThat(discarded).containsExactly("too late");
        assertThat(dropped).isEmpty();
    }

    @Test
    void anElementThatRacesALossIsDiscarded() {
        TestSubscriber<String> result = begun();
        world.takeAway(NAME);
        world.pass(LEASE.dividedBy(3));
        assertThat(result.expectTerminalError()).isInstanceOf(LockLostException.class);

        work.next("too late");

        assertThat(discarded).containsExactly("too late");
        assertThat(dropped).isEmpty();
    }

    @Test
    void anElementAfterTheEndOfTheWorkGoesToTheDroppedHook() {
        TestSubscriber<String> result = begun();
        work.complete();
        assertThat(result.isTerminatedComplete()).isTrue();

        work.next("against the rules");

        assertThat(dropped).containsExactly("against the rules");
        assertThat(discarded).isEmpty();
    }

    private TestSubscriber<String> begunWithOneResult() {
        TestSubscriber<String> result = TestSubscriber.create();
        world.lock()
                .withLock(lease -> Mono.fromDirect(deaf()))
                .doOnDiscard(String.class, discarded::add)
                .subscribe(result);
        return result;
    }

    @Test
    void aResultThatWaitsForTheEndOfTheWorkIsDiscardedAtACancellation() {
        TestSubscriber<String> result = begunWithOneResult();
        work.next("result");

        result.cancel();
        work.next("too late");

        assertThat(result.getReceivedOnNext()).isEmpty();
        assertThat(discarded).containsExactly("result", "too late");
        assertThat(dropped).isEmpty();
    }

    @Test
    void aResultThatWaitsForTheEndOfTheWorkIsDiscardedWhenTheLeaseIsLost() {
        TestSubscriber<String> result = begunWithOneResult();
        work.next("result");

        world.takeAway(NAME);
        world.pass(LEASE.dividedBy(3));

        assertThat(result.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(discarded).containsExactly("result");
    }

    @Test
    void aResultIsDiscardedWhenTheWorkFailsAfterIt() {
        TestSubscriber<String> result = begunWithOneResult();
        work.next("result");

        work.error(new IllegalStateException("on purpose"));

        assertThat(result.expectTerminalError()).hasMessage("on purpose");
        assertThat(discarded).containsExactly("result");
    }

    @Test
    void workOfOneResultThatEmitsTwoFailsAndFreesTheLock() {
        TestSubscriber<String> result = begunWithOneResult();
        work.next("result");

        work.next("another");

        assertThat(result.expectTerminalError()).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(discarded).containsExactlyInAnyOrder("result", "another");
        assertThat(world.client.toString()).contains("0 acquiring, 0 held, 0 releasing");
    }
}
