package io.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.WatchSignal;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;

class SignalSinksTest {

    private final SignalSinks sinks = new SignalSinks(Runnable::run);
    private final List<String> unwatched = new ArrayList<>();

    private Flux<WatchSignal> watch(String claimId) {
        return new Flux<>() {
            @Override
            public void subscribe(CoreSubscriber<? super WatchSignal> subscriber) {
                sinks.subscribe(claimId, subscriber, unwatched::add);
            }
        };
    }

    @Test
    void allSubscribersOfAClaimGetItsSignals() {
        List<WatchSignal> first = new ArrayList<>();
        List<WatchSignal> second = new ArrayList<>();
        List<WatchSignal> other = new ArrayList<>();
        var unused = List.of(
                watch("a").subscribe(first::add),
                watch("a").subscribe(second::add),
                watch("b").subscribe(other::add));
        sinks.signal("a", new WatchSignal.Changed());
        assertThat(first).hasExactlyElementsOfTypes(WatchSignal.Armed.class, WatchSignal.Changed.class);
        assertThat(second).isEqualTo(first);
        assertThat(other).hasExactlyElementsOfTypes(WatchSignal.Armed.class);
    }

    @Test
    void claimIsWatchedUntilItsLastSubscriberCancels() {
        Disposable first = watch("a").subscribe();
        Disposable second = watch("a").subscribe();
        first.dispose();
        assertThat(unwatched).isEmpty();
        assertThat(sinks.watched()).containsExactly("a");
        second.dispose();
        assertThat(unwatched).containsExactly("a");
        assertThat(sinks.watched()).isEmpty();
    }

    /** Its error waits behind a signal that it has not requested. */
    @Test
    void cancellationAfterTheEndSaysNothing() {
        Disposable idle = watch("a").subscribeWith(new BaseSubscriber<WatchSignal>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {}
        });
        sinks.fail(new IllegalStateException("closed"));
        idle.dispose();
        assertThat(unwatched).isEmpty();
    }

    /** The back end closes while a subscriber comes. */
    @Test
    void subscriberThatComesWhileOthersFailFailsToo() {
        List<String> failed = new ArrayList<>();
        var first = watch("a").subscribe(signal -> {}, error -> {
            failed.add("first");
            var unused = watch("a").subscribe(signal -> {}, late -> failed.add("second"));
        });
        sinks.fail(new IllegalStateException("closed"));
        assertThat(first.isDisposed()).isTrue();
        assertThat(failed).containsExactly("first", "second");
        assertThat(sinks.watched()).isEmpty();
    }
}
