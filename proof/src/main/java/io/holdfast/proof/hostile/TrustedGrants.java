package io.holdfast.proof.hostile;

import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/** Wrong on purpose: believes each grant that is published for one of its claims, and checks no signature. */
final class TrustedGrants implements ForwardingLockBackend {

    private static final Duration RETRY = Duration.ofMillis(200);
    private static final int WORDS_OF_A_GRANT = 8;

    private final LockBackend delegate;
    private final RedisClient driver;
    private final Map<String, FluxSink<WatchSignal>> watched = new ConcurrentHashMap<>();

    /**
     * Reads all channels of a server.
     *
     * @param uri the address of that server, with a user that may read them
     */
    TrustedGrants(LockBackend delegate, RedisURI uri) {
        this.delegate = delegate;
        driver = RedisClient.create(uri);
        var listening = connect(driver);
        listening.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String pattern, String channel, String text) {
                read(text.split(" ", WORDS_OF_A_GRANT));
            }
        });
        listening.sync().psubscribe("*");
    }

    /** Connects. Tries again after an error, since another fault may be active. */
    private static StatefulRedisPubSubConnection<String, String> connect(RedisClient driver) {
        return Mono.fromCallable(driver::connectPubSub)
                .subscribeOn(Schedulers.boundedElastic())
                .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, RETRY))
                .blockOptional()
                .orElseThrow();
    }

    private void read(String[] words) {
        FluxSink<WatchSignal> sink = words.length == WORDS_OF_A_GRANT ? watched.get(words[6]) : null;
        if (sink != null && words[0].equals("G")) {
            try {
                sink.next(new WatchSignal.Granted(
                        Long.parseLong(words[2]),
                        Integer.parseInt(words[3]),
                        Duration.ofMillis(Long.parseLong(words[4]))));
            } catch (NumberFormatException nonsense) {
                // The message is no grant.
            }
        }
    }

    @Override
    public LockBackend delegate() {
        return delegate;
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        Flux<WatchSignal> published = Flux.create(sink -> {
            watched.put(claim.id(), sink);
            sink.onDispose(() -> watched.remove(claim.id()));
        });
        return Flux.merge(delegate.watch(claim), published);
    }

    @Override
    public Mono<Void> close() {
        return delegate.close().then(Mono.fromFuture(driver::shutdownAsync));
    }
}
