package io.holdfast.examples.quickstart;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.redis.RedisAddress;
import io.holdfast.redis.RedisLockBackend;
import java.time.Duration;
import reactor.core.publisher.Mono;

public final class WhoLeads {

    public static void main(String[] args) {
        String server = args.length > 0 ? args[0] : "redis://localhost:6379";
        LockClient locks = LockClient.create(RedisLockBackend.create(RedisAddress.parse(server)));

        locks.election("billing")
                .leader() // empty when there is none
                .map(holder -> holder.owner() + " leads with token " + holder.fencingToken())
                .defaultIfEmpty("no leader")
                .onErrorResume(LockBackendException.class, error -> Mono.just("not known: " + error.getMessage()))
                .repeatWhen(answered -> answered.delayElements(Duration.ofSeconds(1))) // asks again
                .distinctUntilChanged()
                .doOnNext(System.out::println)
                .blockLast();
    }
}
