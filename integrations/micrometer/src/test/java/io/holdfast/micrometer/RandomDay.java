package io.holdfast.micrometer;

import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/** Customers of a client come, wait, cancel, hold, drop and release at random. Its back end fails at random. */
final class RandomDay {

    /** Checks that each start of an acquisition or a lease has one end. The gauges show the sum, and this class the cause. */
    static final class Stories {

        private final List<String> broken = new ArrayList<>();
        private int waiting;
        private int held;

        void record(LockEvent event) {
            if (event instanceof LockEvent.AcquireStarted) {
                waiting++;
            } else if (event instanceof LockEvent.Acquired) {
                waiting--;
                held++;
            } else if (event instanceof LockEvent.NotAvailable
                    || event instanceof LockEvent.AcquireFailed
                    || event instanceof LockEvent.AcquireCancelled) {
                waiting--;
            } else if (event instanceof LockEvent.Released
                    || event instanceof LockEvent.ReleaseUnconfirmed
                    || event instanceof LockEvent.Lost
                    || event instanceof LockEvent.HandedOn
                    || event instanceof LockEvent.LeaseAbandoned) {
                held--;
            }
            if (waiting < 0 || held < 0) {
                broken.add("ended without a beginning: " + event);
            }
        }

        List<String> broken() {
            return broken;
        }
    }

    final Stories stories = new Stories();
    final LockClient client;

    private final Shop shop;
    private final Random random;
    private final Queue<Runnable> deliveries = new ArrayDeque<>();
    private final List<TestSubscriber<?>> customers = new ArrayList<>();

    RandomDay(Shop shop, long seed) {
        this.shop = shop;
        random = new Random(seed);
        boolean late = random.nextBoolean();
        client = shop.client(builder -> {
            LockClient.Builder listened = builder.listener(stories::record);
            return late ? listened.deliverOn(Schedulers.fromExecutor(deliveries::add)) : listened;
        });
        for (Operation operation : Operation.values()) {
            shop.backend
                    .on(operation)
                    .sometimes(
                            random.nextLong(),
                            0.3,
                            Fault.lostReply(),
                            Fault.lostRequest(),
                            Fault.refused(),
                            Fault.delayedReply(Duration.ofSeconds(1)),
                            Fault.delayedRequest(Duration.ofSeconds(3)),
                            Fault.lostReply().silently());
        }
    }

    void pass(int steps) {
        for (int step = 0; step < steps; step++) {
            one();
            if (random.nextInt(4) > 0) {
                deliver();
            }
            shop.pass(Duration.ofMillis(random.nextInt(500)));
        }
        for (int second = 0; second < 60; second++) {
            shop.pass(Duration.ofSeconds(1));
            deliver();
        }
        leaveAll();
    }

    void deliver() {
        while (!deliveries.isEmpty()) {
            deliveries.remove().run();
        }
    }

    private void one() {
        switch (random.nextInt(7)) {
            case 0 -> come(lock().acquire());
            case 1 -> come(lock().tryAcquire());
            case 2 -> come(lock().withLock(Mono.delay(Duration.ofMillis(random.nextInt(3_000)), shop.clock)));
            case 3 -> come(lock().withLock(lock().withLock(Mono.error(new IllegalStateException("work fails")))));
            case 4 -> come(lock().withLock(lock().acquire().flatMap(LockLease::release)));
            case 5 -> leave();
            default -> giveBack();
        }
    }

    private ReactiveLock lock() {
        LockOptions.Builder options = LockOptions.builder()
                .leaseDuration(Duration.ofSeconds(6))
                .autoRenew(random.nextBoolean())
                .reentrant(random.nextBoolean());
        if (random.nextBoolean()) {
            options = options.waitTimeout(Duration.ofMillis(random.nextInt(4) * 700L));
        }
        return client.lock("stock/" + random.nextInt(8)).with(options.build());
    }

    private void come(Mono<?> wanted) {
        TestSubscriber<Object> customer =
                TestSubscriber.builder().initialRequest(random.nextInt(3)).build();
        customers.add(customer);
        wanted.subscribe(customer);
    }

    private void leave() {
        if (!customers.isEmpty()) {
            customers.remove(random.nextInt(customers.size())).cancel();
        }
    }

    private void giveBack() {
        if (!customers.isEmpty()) {
            giveBack(customers.get(random.nextInt(customers.size())));
        }
    }

    private void giveBack(TestSubscriber<?> customer) {
        for (Object got : customer.getReceivedOnNext()) {
            if (got instanceof LockLease lease) {
                shop.subscribe(lease.release());
            }
        }
    }

    private void leaveAll() {
        for (TestSubscriber<?> customer : customers) {
            giveBack(customer);
            customer.cancel();
        }
    }
}
