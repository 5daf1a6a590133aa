package io.holdfast.proof.hostile;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.testkit.history.HistoryRecorder;
import io.holdfast.testkit.history.RecoveryCheck;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Mono;

/** Checks, after the faults and the clients have ended, that every lock can be acquired, and that the back end keeps nothing. */
final class Afterwards {

    /** By then, the back end has dropped what a killed process left: its leases, its place in a queue, the mark of a withdrawal. */
    private static final int LEASES = 4;

    private static final Duration POLL_INTERVAL = Duration.ofMillis(200);

    /** Allows for slow machines, and for drivers that wait for seconds before they reconnect. */
    private static final Duration SLACK = Duration.ofSeconds(20);

    private final Deployment deployment;
    private final HistoryRecorder recorder;
    private final Terms terms;

    Afterwards(Deployment deployment, HistoryRecorder recorder) {
        this.deployment = deployment;
        this.recorder = recorder;
        terms = deployment.direct().terms();
    }

    static Duration limit(Terms terms) {
        return terms.lease().multipliedBy(LEASES).plus(SLACK);
    }

    void check() throws InterruptedException {
        Address.Opened opened = deployment.direct().open();
        LockClient client = LockClient.builder(opened.backend())
                .options(LockOptions.builder()
                        .leaseDuration(terms.lease())
                        .waitTimeout(limit(terms).plusSeconds(5))
                        .build())
                .build();
        try {
            for (Resource resource : Resource.all(terms.target())) {
                take(client, resource);
            }
        } finally {
            String unused = outcome(client.close());
            opened.rest().run();
        }
        awaitNothingLeft();
    }

    private void take(LockClient client, Resource resource) throws InterruptedException {
        Operation operation = Operation.ask(recorder, resource);
        String outcome = outcome(resource.of(client)
                .acquire()
                .doOnNext(operation::got)
                .doOnNext(held -> operation.leaves())
                .flatMap(LockLease::release)
                .doOnSuccess(released -> operation.gave()));
        if (!outcome.isEmpty()) {
            operation.ended(RecoveryCheck.FAILED + ": " + outcome);
        }
    }

    /** Waits for the end. Returns the error; an empty text after success. */
    static String outcome(Mono<Void> what) throws InterruptedException {
        try {
            Void unused = what.toFuture().get(2, TimeUnit.MINUTES);
            return "";
        } catch (ExecutionException | TimeoutException e) {
            return e.toString();
        }
    }

    private void awaitNothingLeft() throws InterruptedException {
        long startNanos = System.nanoTime();
        List<String> left = deployment.leftovers();
        while (!left.isEmpty() && System.nanoTime() - startNanos < limit(terms).toNanos()) {
            Strike.last(POLL_INTERVAL);
            left = deployment.leftovers();
        }
        left.forEach(one -> recorder.left(System.nanoTime(), one));
    }
}
