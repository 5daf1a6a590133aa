package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.PutOption;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.testkit.server.EtcdServer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** Cycles per second beside bare transactions and jetcd's own lock, and what many held locks cost. Started by hand; not a test. */
final class EtcdFigures {

    private static final int ROUNDS = 3;
    private static final Duration TIME = Duration.ofSeconds(3);

    private EtcdFigures() {}

    public static void main(String[] args) {
        try (EtcdServer server = EtcdServer.start();
                Client client = Client.builder().endpoints(server.endpoint()).build();
                Client other = Client.builder().endpoints(server.endpoint()).build()) {
            LockClient locks = LockClient.builder(EtcdLockBackend.over(client)).build();
            LockClient others = LockClient.builder(EtcdLockBackend.over(other)).build();
            long lease = Waiting.forMono(
                            Answers.of(() -> client.getLeaseClient().grant(600)))
                    .getID();
            for (int round = 0; round < ROUNDS; round++) {
                for (int lanes : List.of(1, 64)) {
                    print("bare transactions", lanes, lanes, lane -> () -> bare(client, lease, "bare/" + lane));
                    print("jetcd lock", lanes, lanes, lane -> () -> jetcd(client, lease, "jetcd/" + lane));
                    print("holdfast", lanes, lanes, lane -> () -> ours(locks, "ours/" + lane));
                }
                long[] leases = new long[100];
                for (int i = 0; i < leases.length; i++) {
                    Client owner = i % 2 == 0 ? client : other;
                    leases[i] = Waiting.forMono(
                                    Answers.of(() -> owner.getLeaseClient().grant(600)))
                            .getID();
                }
                InTurn turns = new InTurn(client, lease);
                print("an entry, and deletions in turn", 100, 100, lane -> () -> turns.cycle("turn/" + lane));
                print("jetcd lock, one name, one process", 100, 100, lane -> () -> jetcd(client, leases[lane], "one"));
                print("holdfast, one name, one process", 100, 100, lane -> () -> ours(locks, "one"));
                print(
                        "jetcd lock, one name, two clients",
                        100,
                        100,
                        lane -> () -> jetcd(lane % 2 == 0 ? client : other, leases[lane], "two"));
                print(
                        "holdfast, one name, two clients",
                        100,
                        100,
                        lane -> () -> ours(lane % 2 == 0 ? locks : others, "two"));
            }
            manyHeld(locks);
        }
        System.exit(0);
    }

    private static Mono<?> ours(LockClient locks, String name) {
        return locks.lock(name).withLock(lease -> Mono.just(1));
    }

    private static Mono<?> jetcd(Client client, long lease, String name) {
        ByteSequence key = EtcdStore.bytes(name);
        return Answers.of(() -> client.getLockClient().lock(key, lease))
                .flatMap(held -> Answers.of(() -> client.getLockClient().unlock(held.getKey())));
    }

    private static Mono<?> bare(Client client, long lease, String name) {
        ByteSequence key = EtcdStore.bytes(name);
        Cmp isFree = new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0));
        PutOption onLease = PutOption.builder().withLeaseId(lease).build();
        return Answers.of(() -> client.getKVClient()
                        .txn()
                        .If(isFree)
                        .Then(Op.put(key, ByteSequence.EMPTY, onLease))
                        .commit())
                .flatMap(put -> Answers.of(() -> client.getKVClient()
                        .txn()
                        .Then(Op.delete(key, DeleteOption.DEFAULT))
                        .commit()));
    }

    /** The least that a hand-off of one client needs: one deletion is answered before the next one is sent. */
    private static final class InTurn {
        private final Client client;
        private final long lease;
        private final Deque<MonoSink<Integer>> waiting = new ArrayDeque<>();
        private boolean isHeld;

        InTurn(Client client, long lease) {
            this.client = client;
            this.lease = lease;
        }

        Mono<?> cycle(String name) {
            ByteSequence key = EtcdStore.bytes(name);
            PutOption onLease = PutOption.builder().withLeaseId(lease).build();
            return Answers.of(() -> client.getKVClient()
                            .txn()
                            .Then(Op.put(key, ByteSequence.EMPTY, onLease))
                            .commit())
                    .then(Mono.create(this::take))
                    .flatMap(turn -> Answers.of(() -> client.getKVClient()
                            .txn()
                            .Then(Op.delete(key, DeleteOption.DEFAULT))
                            .commit()))
                    .doOnNext(done -> pass());
        }

        private void take(MonoSink<Integer> sink) {
            synchronized (this) {
                if (isHeld) {
                    waiting.add(sink);
                    return;
                }
                isHeld = true;
            }
            sink.success(1);
        }

        private void pass() {
            MonoSink<Integer> next;
            synchronized (this) {
                next = waiting.poll();
                isHeld = next != null;
            }
            if (next != null) {
                next.success(1);
            }
        }
    }

    private static void print(String what, int lanes, int inFlight, IntFunction<Supplier<Mono<?>>> work) {
        AtomicInteger cycles = new AtomicInteger();
        long cpu = cpuNanos();
        long start = System.nanoTime();
        Object unused = Waiting.forMono(Flux.range(0, lanes)
                .flatMap(
                        lane -> Mono.defer(work.apply(lane))
                                .doOnSuccess(done -> cycles.incrementAndGet())
                                .repeat(() -> System.nanoTime() - start < TIME.toNanos())
                                .then(),
                        inFlight)
                .then(Mono.just(1)));
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.printf(
                "%-40s %4d in flight: %8.0f cycles/s, %6.0f us of client cpu per cycle%n",
                what, inFlight, cycles.get() / seconds, (cpuNanos() - cpu) / 1e3 / cycles.get());
    }

    private static void manyHeld(LockClient locks) {
        LockOptions options =
                LockOptions.builder().leaseDuration(Duration.ofSeconds(30)).build();
        List<LockLease> held = Waiting.forMono(Flux.range(0, 10_000)
                .flatMap(i -> locks.lock("held/" + i).with(options).acquire(), 64)
                .collectList());
        Waiting.pass(Duration.ofSeconds(15)); // all have renewed
        long cpu = cpuNanos();
        Waiting.pass(Duration.ofSeconds(20));
        System.out.printf(
                "10 000 held locks: %.3f cores of the client; all valid: %s%n",
                (cpuNanos() - cpu) / 20e9, held.stream().allMatch(LockLease::isValid));
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }
}
