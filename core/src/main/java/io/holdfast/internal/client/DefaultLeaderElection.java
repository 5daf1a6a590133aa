package io.holdfast.internal.client;

import static java.util.Objects.requireNonNull;

import io.holdfast.LeaderElection;
import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.internal.engine.BackendCall;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.support.Printable;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/** The settings of the lock of an election. */
final class DefaultLeaderElection implements LeaderElection {

    private final LockSettings settings;

    DefaultLeaderElection(LockSettings settings) {
        this.settings = settings;
    }

    @Override
    public String name() {
        return settings.key().name();
    }

    @Override
    public LeaderElection with(LockOptions options) {
        return new DefaultLeaderElection(settings.with(requireNonNull(options, "options")));
    }

    @Override
    public <T> Flux<T> lead(Function<? super LockLease, ? extends Publisher<T>> term) {
        return Candidate.stand(settings, requireNonNull(term, "term"));
    }

    @Override
    public Mono<LockHolder> leader() {
        Mono<LockHolder> answer = Mono.create(sink -> {
            Engine engine = settings.engine();
            if (engine.isClosed()) {
                sink.error(engine.closedException(name()));
            } else if (engine.backend.features().contains(LockFeature.HOLDERS)) {
                Context context = Context.of(sink.contextView());
                BackendCall.start(
                        engine,
                        name(),
                        settings.operationNanos(),
                        context,
                        new Asked(settings, sink),
                        engine.alarms.now());
            } else {
                sink.error(new UnsupportedOperationException("back end %s cannot report the leader, it has only %s"
                        .formatted(engine.backend.name(), new TreeSet<>(engine.backend.features()))));
            }
        });
        return settings.engine().delivery.of(answer);
    }

    private record Asked(LockSettings lock, MonoSink<LockHolder> sink)
            implements BackendCall.Request<Optional<LockHolder>> {

        @Override
        public String what() {
            return "request for the leader";
        }

        @Override
        public Publisher<Optional<LockHolder>> ask() {
            return lock.engine()
                    .backend
                    .holders(lock.key())
                    .next()
                    .map(Optional::of)
                    .defaultIfEmpty(Optional.empty());
        }

        @Override
        public void answered(Optional<LockHolder> leader) {
            leader.ifPresentOrElse(sink::success, sink::success);
        }

        @Override
        public void failed(LockBackendException error) {
            // Closing ends a request that is under way like a timeout.
            Engine engine = lock.engine();
            sink.error(engine.isClosed() ? engine.closedException(lock.key().name()) : error);
        }
    }

    @Override
    public String toString() {
        return "LeaderElection[%s, %s]".formatted(Printable.text(name()), settings.options());
    }
}
