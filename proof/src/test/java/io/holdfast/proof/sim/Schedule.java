package io.holdfast.proof.sim;

import io.holdfast.LockKind;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.proof.sim.Plan.Weather;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.history.BeliefCheck;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryEvent;
import io.holdfast.testkit.history.HistoryRecorder;
import io.holdfast.testkit.history.QueueCheck;
import io.holdfast.testkit.history.RecoveryCheck;
import io.holdfast.testkit.history.TokenCheck;
import io.holdfast.testkit.history.Violation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/** One run of a simulated world. The seed decides every event. */
final class Schedule {

    /** The result of a schedule. */
    record Result(
            long seed,
            List<Violation> violations,
            List<String> trace,
            int acquired,
            int lost,
            long steps,
            long print) {}

    private final long seed;
    private final World world;
    private final Plan plan;
    private final Network network;
    private final Store store;
    private final Mutant mutant;
    private final List<HistoryEvent> events = new ArrayList<>();
    private final List<Member> members = new ArrayList<>();
    private final List<Actor> actors = new ArrayList<>();
    private @Nullable LockTrace trace;
    private final HistoryRecorder referee = HistoryRecorder.to("referee", events::add);

    private Schedule(StoreKind kind, long seed, Mutant mutant, boolean isTraced) {
        this.seed = seed;
        world = new World(seed, isTraced);
        plan = Plan.of(world, kind);
        network = new Network(world, plan.manners());
        store = kind.make(world, network, plan, mutant);
        this.mutant = mutant;
    }

    /** Runs a schedule in memory, and returns the steps of one of its mutexes. */
    static RunTrace trace(long seed, Mutant mutant) {
        Schedule schedule = new Schedule(StoreKind.MEMORY, seed, mutant, false);
        RunTrace trace = new RunTrace(schedule.world);
        schedule.trace = trace;
        schedule.store.writesTo(trace);
        Result unused = schedule.run(StoreKind.MEMORY);
        return trace;
    }

    /** Runs a schedule of Redis without runs, and returns the steps of one of its mutexes. */
    static QueueTrace queueTrace(long seed, Mutant mutant) {
        Schedule schedule = new Schedule(StoreKind.REDIS, seed, mutant, false);
        QueueTrace trace = new QueueTrace(schedule.world);
        schedule.trace = trace;
        schedule.store.writesTo(trace);
        if (schedule.plan.is(Weather.WILD)) {
            trace.end("wild weather");
        } else {
            Result unused = schedule.run(StoreKind.REDIS);
        }
        return trace;
    }

    /** Runs a schedule, and returns its history; empty if it breaks the assumptions of exclusion or of tokens. */
    static Optional<History> history(StoreKind kind, long seed, Mutant mutant) {
        Schedule schedule = new Schedule(kind, seed, mutant, false);
        Result unused = schedule.run(kind);
        boolean isJudged = !schedule.plan.is(Weather.WILD) && !schedule.plan.forgets();
        return isJudged ? Optional.of(History.of(schedule.events)) : Optional.empty();
    }

    static Result run(StoreKind kind, long seed, Mutant mutant, boolean isTraced) {
        return new Schedule(kind, seed, mutant, isTraced).run(kind);
    }

    private Result run(StoreKind kind) {
        world.trace("seed %d: %s", seed, plan);
        List<Host> hosts = new ArrayList<>();
        for (int i = 0; i < plan.hosts(); i++) {
            hosts.add(new Host(world, "p" + (i + 1), Clocks.rate(world)));
        }
        SplittableRandom clientsOf = world.chancesOf("clients", 0);
        boolean areManyClients = !plan.isTight() && clientsOf.nextInt(10) == 0;
        int clients = store.servers().isEmpty() ? 3 : hosts.size() * (areManyClients ? 2 : 1);
        Clones clones = new Clones(world, plan, store, mutant, hosts);
        for (int i = 0; i < clients; i++) {
            String name = "c" + (i + 1);
            HistoryRecorder recorder = HistoryRecorder.to(name, this::happened);
            Host host = hosts.get(i % hosts.size());
            Member member = new Member(name, host, store, plan, recorder, mutant, clones.identitiesOf(host));
            UsersCode listener = new UsersCode(host, plan, 1_000 + i, member::speak);
            member.listener(listener::isCalledAndMayThrow);
            members.add(member);
        }
        List<LockKey> keys = keys();
        boolean areManyWanted = ManyLocks.areWanted(world, plan, keys);
        Elections elections = Elections.areWanted(world, plan, keys) ? new Elections(plan) : null;
        members.forEach(member -> {
            for (int i = 0; i < plan.actors(); i++) {
                actors.add(new Actor(member, plan, keys, areManyWanted, elections, actors));
            }
        });
        if (!plan.isTight() && !plan.is(Weather.CALM) && clientsOf.nextInt(6) == 0) {
            members.forEach(member -> planReopening(member, clientsOf));
        }
        if (plan.isTight() && !plan.hasLastWords()) {
            network.hearsLate(hosts.get(0).name(), plan.latenessNanos(kind));
        }
        Faults faults = new Faults(
                world,
                plan,
                network,
                store,
                hosts,
                host -> members.stream().anyMatch(it -> it.host() == host && it.holds()));
        long lease = plan.lease().toNanos();
        faults.planWithin(plan.leases() * lease);
        world.runUntil(plan.leases() * lease * 3 / 2);
        faults.end();
        boolean isDone = proceed(400 * lease, () -> actors.stream().allMatch(Actor::isDone));
        if (plan.is(Weather.CALM) && members.stream().noneMatch(Member::leftALease)) {
            world.runUntil(world.now() + lease / 20);
            left("although no process is killed, no data is lost, and no lease is adopted too late");
        }
        world.runUntil(world.now() + store.settlingNanos() + 4 * lease);
        members.stream().filter(it -> !it.host().isDead()).forEach(Member::speak);
        world.runUntil(world.now() + store.settlingNanos() / 2 + lease);
        referee.faultsEnded(world.now());
        if (!isDone) {
            referee.left(world.now(), "a user waits for ever");
        }
        probe(keys);
        close(lease);
        return result();
    }

    private void happened(HistoryEvent event) {
        events.add(event);
        LockTrace to = trace;
        if (to != null) {
            to.happened(event);
        }
    }

    /** Closes some clients in the middle of the schedule, and opens others in their place, in a process that may be paused then. */
    private void planReopening(Member member, SplittableRandom chances) {
        for (int i = chances.nextInt(3); i > 0; i--) {
            long when = chances.nextLong(plan.leases() * plan.lease().toNanos());
            Disposable unused = member.host().schedule(() -> reopen(member), when, TimeUnit.NANOSECONDS);
        }
    }

    private void reopen(Member member) {
        LockTrace to = trace;
        if (to != null) {
            to.closes(members.indexOf(member));
        }
        member.reopen();
    }

    private List<LockKey> keys() {
        List<LockKey> keys = new ArrayList<>();
        for (int i = 0; i < plan.locks(); i++) {
            String name = "stock" + i;
            switch (plan.isTight() ? 0 : world.below(store.hasSemaphores() ? 5 : 4)) {
                case 0, 1, 2 -> keys.add(LockKey.of(LockKind.MUTEX, name));
                case 3 -> {
                    keys.add(LockKey.of(LockKind.READ, name));
                    keys.add(LockKey.of(LockKind.WRITE, name));
                }
                default -> keys.add(new LockKey(LockKind.SEMAPHORE, name, 1 + world.below(3)));
            }
        }
        return keys;
    }

    private interface Condition {
        boolean holds();
    }

    private boolean proceed(long most, Condition until) {
        long end = world.now() + most;
        while (!until.holds() && world.now() < end) {
            world.runUntil(world.now() + plan.lease().toNanos() / 2);
        }
        return until.holds();
    }

    private long recoveryNanos() {
        return 3 * plan.lease().toNanos()
                + 4 * plan.claimTime().toNanos()
                + World.ms(3_000)
                + store.recoveryNanos(plan);
    }

    /** Each client that still runs acquires each lock once, with all its permits, one client after the other. */
    private void probe(List<LockKey> keys) {
        for (Member member : members) {
            for (LockKey key : keys) {
                if (!member.host().isDead()) {
                    probe(member, key);
                }
            }
        }
    }

    private void probe(Member member, LockKey key) {
        ReactiveLock lock = member.lock(
                key,
                key.permits(),
                LockOptions.builder().leaseDuration(plan.lease()).build());
        long operation = member.asks(key, key.permits());
        boolean[] isOver = new boolean[1];
        Disposable probing = lock.acquire()
                .subscribe(
                        lease -> {
                            member.acquired(operation, lease);
                            member.ends(operation, "releases");
                            lease.release().subscribe(nothing -> {}, error -> isOver[0] = true, () -> isOver[0] = true);
                        },
                        error -> {
                            member.gaveUp(operation, RecoveryCheck.FAILED + " " + error.getMessage());
                            isOver[0] = true;
                        });
        boolean unused = proceed(recoveryNanos() + World.ms(1_000), () -> isOver[0]);
        if (!isOver[0]) {
            probing.dispose();
        }
    }

    private void close(long lease) {
        List<Member> alive = members.stream().filter(it -> !it.host().isDead()).toList();
        store.ends();
        alive.forEach(this::close);
        boolean unused = proceed(
                World.ms(20_000), () -> isClosed(alive) && store.leftovers().isEmpty());
        for (Member member : alive) {
            if (!member.isClosed() || !member.remains().isEmpty()) {
                referee.left(world.now(), "a client that is closed: " + member.remains());
            }
        }
        if (alive.size() < members.size()) {
            world.runUntil(world.now() + 2 * lease);
        }
        left("in the end");
    }

    private void close(Member member) {
        LockTrace to = trace;
        if (to != null) {
            to.closes(members.indexOf(member));
        }
        member.close();
    }

    private static boolean isClosed(List<Member> alive) {
        return alive.stream().allMatch(it -> it.isClosed() && it.remains().isEmpty());
    }

    private void left(String when) {
        store.leftovers().forEach(key -> referee.left(world.now(), key + " " + when));
    }

    private TokenCheck tokens(TokenCheck check) {
        return store.readersMayShare() ? check.whereReadersMayShare() : check;
    }

    private Result result() {
        History history = History.of(events);
        List<Violation> found = new ArrayList<>();
        if (plan.is(Weather.WILD)) {
            found.addAll(history.violations(tokens(TokenCheck.withoutExclusion())));
        } else {
            if (!plan.forgets()) { // otherwise clocks would have to agree, and here they do not
                found.addAll(history.violations(tokens(new TokenCheck())));
            }
            found.addAll(history.violations(
                    new BeliefCheck(), new QueueCheck(), new RecoveryCheck(Duration.ofNanos(recoveryNanos()))));
        }
        if (!plan.is(Weather.WILD) && !plan.forgets()) {
            found.addAll(history.violations(new LeastHoldCheck(
                    operation -> members.stream()
                            .mapToLong(it -> it.leastHold(operation))
                            .sum(),
                    operation -> members.stream()
                            .map(it -> it.grantedAt(operation))
                            .filter(OptionalLong::isPresent)
                            .findFirst()
                            .orElse(OptionalLong.empty()))));
        }
        if (plan.is(Weather.CALM) && store.hasFairTurns()) {
            long apart = 10 * plan.manners().usualNanos() + World.ms(20);
            found.addAll(history.violations(new TurnCheck(
                    store.mostPerTurn(), apart, one -> members.stream().anyMatch(it -> it.askedTogether(one)))));
        }
        world.defects().forEach(defect -> found.add(new Violation("defect", defect)));
        return new Result(
                seed,
                found,
                world.trace(),
                members.stream().mapToInt(Member::acquired).sum(),
                members.stream().mapToInt(Member::lost).sum(),
                world.steps(),
                world.fingerprint());
    }
}
