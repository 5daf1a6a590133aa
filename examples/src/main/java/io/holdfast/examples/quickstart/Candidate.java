package io.holdfast.examples.quickstart;

import io.holdfast.LeaderElection;
import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.redis.RedisAddress;
import io.holdfast.redis.RedisLockBackend;
import java.time.Duration;
import reactor.core.publisher.Flux;

public final class Candidate {

    public static void main(String[] args) {
        String server = args.length > 0 ? args[0] : "redis://localhost:6379";
        LockClient locks = LockClient.create(RedisLockBackend.create(RedisAddress.parse(server)));
        LockOptions options = LockOptions.builder()
                .leaseDuration(Duration.ofSeconds(3)) // how long a crash can leave the others without a leader
                .build();
        LeaderElection election = locks.election("billing").with(options);

        Runtime.getRuntime().addShutdownHook(new Thread(() -> locks.close().block())); // Ctrl-C hands the lead over
        System.out.println("standing");
        election.lead(Candidate::term)
                .doOnNext(System.out::println)
                .onErrorComplete(LockClosedException.class)
                .blockLast();
    }

    /** Runs for as long as this process leads. */
    private static Flux<String> term(LockLease lease) {
        return Flux.interval(Duration.ZERO, Duration.ofSeconds(1))
                .map(tick -> "leading with token " + lease.fencingToken());
    }
}
