package io.holdfast.proof.sim;

import io.holdfast.LockKind;
import io.holdfast.internal.tenure.WrongRuns;
import io.holdfast.internal.tenure.WrongTenures;
import io.holdfast.redis.WrongDriver;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.zookeeper.WrongPart;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The mutants: plausible mistakes in the product. */
final class Mutants {

    /** Longer than any user holds a lock. */
    private static final Duration LONG = Duration.ofHours(1);

    /** The first seeds of mutants that take long from seed 0: shortly before a seed that catches it, so that the build need not search again. */
    private static final Map<String, Long> FIRST_SEEDS = Map.ofEntries(
            Map.entry("CLUSTER grant to a waiter whose channel has no listener", 440L),
            Map.entry("CLUSTER masters whose clocks differ", 130L),
            Map.entry("CLUSTER renewal that has to be tried again read as held", 65L),
            Map.entry("ETCD no comparison with the tombstone", 10_048L),
            Map.entry("ETCD no tombstone", 10_048L),
            Map.entry("ETCD place that comes back", 20_650L),
            Map.entry("ETCD place without a lease", 25L),
            Map.entry("ETCD withdrawal that forgets", 105L),
            Map.entry("ETCD writer without a mark", 45L),
            Map.entry("MEMORY adoption that forgets the least hold time", 140L),
            Map.entry("MEMORY many locks in the order given", 310L),
            Map.entry("MEMORY member of a run that is forgotten", 1_150L),
            Map.entry("MEMORY_HAND_OVER place that no claim wants", 11_060L),
            Map.entry("POSTGRESQL grant that is not flushed", 20_060L),
            Map.entry("POSTGRESQL no tombstone", 10_070L),
            Map.entry("POSTGRESQL release as if all attempts were answered", 20_000L),
            Map.entry("POSTGRESQL ticket that is not lowered", 460L),
            Map.entry("POSTGRESQL unknown renewal read as held", 10_240L),
            Map.entry("POSTGRESQL withdrawal that forgets", 10_000L),
            Map.entry("REDIS adoption that forgets the least hold time", 1_200_026_850L),
            Map.entry("REDIS claim of one permit that passes the waiters", 1_330L),
            Map.entry("REDIS downgrade that lets a writer in", 150L),
            Map.entry("REDIS grant that no replica has confirmed", 360L),
            Map.entry("REDIS hand-off without the flags", 2_810L),
            Map.entry("REDIS leader that resigns and keeps the lock", 55L),
            Map.entry("REDIS least hold time that ends with the release", 60L),
            Map.entry("REDIS loss of one of many locks that keeps the others", 21_590L),
            Map.entry("REDIS push grant naming a wrong attempt", 105L),
            Map.entry("REDIS secret that is in a message", 735L),
            Map.entry("REDIS token by the clock alone", 11_005L),
            Map.entry("REDIS token that is not kept", 40_100L),
            Map.entry("REDIS two leaders by a late loss", 20_010L),
            Map.entry("REDIS waiter without the flag", 395L),
            Map.entry("REDIS withdrawal that forgets", 115L),
            Map.entry("REDIS_HAND_OVER turn without a bound", 310L),
            Map.entry("REDLOCK no quarantine", 2_145L),
            Map.entry("REDLOCK unknown renewal read as held", 175L),
            Map.entry("REDLOCK validity counted from the reply", 210L),
            Map.entry("ZOOKEEPER numbers of a queue that was deleted", 250L),
            Map.entry("ZOOKEEPER proof by a leader without a majority", 160L),
            Map.entry("ZOOKEEPER two leaders by a late loss", 10_200L));

    /** The number of schedules within which each mutant must be caught. */
    private static final int MOST = 1_000;

    private Mutants() {}

    static List<Hunt> ofMemory() {
        return hunts(
                StoreKind.MEMORY,
                leaderThatKeepsTheLock(),
                nestedWorkThatGoesOn(),
                writerThatBelievesAfterItsDowngrade(),
                exporterThatGoesOnBelieving(),
                Mutant.backend("downgrade that lets a writer in", (host, it) -> new DowngradesByARelease(it)),
                workThatThrowsAndKeepsTheLock(),
                workThatIsReleasedEarly(),
                leastHoldThatEndsWithTheRelease(),
                adoptionThatForgetsTheLeastHold(),
                Mutant.many("many locks in the order given", WrongMultiLock::inTheOrderGiven),
                Mutant.backend("member of a run that is forgotten", WrongRuns.forgetsTheRest()::apply),
                Mutant.backend("run that ends before its last member", WrongRuns.endsEarly()::apply));
    }

    static Mutant inMemory(String name) {
        return named(name, ofMemory());
    }

    static Mutant onRedis(String name) {
        return named(name, ofRedis());
    }

    private static Mutant named(String name, List<Hunt> among) {
        return among.stream()
                .map(Hunt::mutant)
                .filter(it -> it.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static Mutant leaderThatKeepsTheLock() {
        return Mutant.election(
                "leader that resigns and keeps the lock",
                (real, lock, host) -> WrongElection.keepingTheLock(real, lock));
    }

    private static Mutant leaderThatIsToldLate() {
        return Mutant.election("two leaders by a late loss", WrongElection::toldLate);
    }

    private static Mutant writerThatBelievesAfterItsDowngrade() {
        return Mutant.lock("write lease believed after the downgrade", LateBelief::afterADowngrade);
    }

    private static Mutant exporterThatGoesOnBelieving() {
        return Mutant.lock("exporter that still believes", LateBelief::afterAnExport);
    }

    private static Mutant workThatThrowsAndKeepsTheLock() {
        return Mutant.lock(
                "users' code that throws keeps the lock", (host, it) -> WrongWork.keepingTheLockWhenItThrows(it));
    }

    private static Mutant workThatIsReleasedEarly() {
        return Mutant.lock(
                "release with the first of many elements", (host, it) -> WrongWork.releasingWithTheFirstElement(it));
    }

    private static Mutant leastHoldThatEndsWithTheRelease() {
        return Mutant.backend(
                "least hold time that ends with the release", (host, it) -> new ReleasesAtOnce(it, false));
    }

    private static Mutant adoptionThatForgetsTheLeastHold() {
        return Mutant.backend("adoption that forgets the least hold time", (host, it) -> new ReleasesAtOnce(it, true));
    }

    private static Mutant nestedWorkThatGoesOn() {
        return Mutant.lock("nested work that outlives the outermost", (host, it) -> new DeafNestedLock(it));
    }

    /** Mutants of the scripts, or of the reading of their answers. */
    static List<Hunt> ofRedis() {
        return hunts(
                StoreKind.REDIS,
                leaderThatKeepsTheLock(),
                leaderThatIsToldLate(),
                Mutant.many(
                        "loss of one of many locks that keeps the others",
                        (real, given) -> WrongMultiLock.keepingTheOthersAfterALoss(real)),
                releaseWithoutAnOwnerCheck(),
                Mutant.scripts(
                        "passing waiters in the queue",
                        body -> body.replace(
                                        "digits(math.max(now, (tonumber(last) or 0) + 1))",
                                        "digits(9000000000000000 - now)")
                                .replace("ticket_digits, ids[n]}", "format('%.0f', 9000000000000000 - now), ids[n]}")),
                Mutant.scripts(
                        "token by the clock alone",
                        body -> body.replace("math.max((tonumber(last) or 0) + 1, now,", "math.max(now,")
                                .replace("math.max(last + 1, now,", "math.max(now,")
                                .replace("math.max(token + 1, now,", "math.max(now,")),
                Mutant.scripts(
                        "token that only counts",
                        body -> body.replace(
                                        "(tonumber(last) or 0) + 1, now, floor)", "(tonumber(last) or 0) + 1, floor)")
                                .replace("math.max(last + 1, now,", "math.max(last + 1,")
                                .replace("math.max(token + 1, now,", "math.max(token + 1,")),
                Mutant.scripts(
                        "token that is not kept",
                        body -> body.replace(
                                        "'1F' .. sub(text, 3, 3) .. sub(text, 20, 35)", "'1F0' .. string.rep('0', 16)")
                                .replace("'1F' .. flag .. written(token)", "'1F' .. flag .. string.rep('0', 16)")),
                Mutant.scripts(
                        "waiter without the flag",
                        body -> body.replace("keys[3], keys[2])\nset_flag(1)", "keys[3], keys[2])")
                                .replace("call('SETRANGE', key, 2, flag - 47)", "")),
                Mutant.scripts(
                        "hand-off without the flags",
                        body -> body.replace("hold(has_flag(1) and flags() or flags() + 1,", "hold(0,")
                                .replace("'SET', key, sub(text, 1, 3) ..", "'SET', key, '1H0' ..")),
                Mutant.scripts(
                        "lease that does not end",
                        body -> body.replace("ends <= now", "false").replace("ends > now", "true")),
                Mutant.scripts(
                        "record that ends before its lease",
                        body -> body.replace("+ 7200000", "- 7200000").replace("+ 7200)", "- 7200)")),
                Mutant.script(
                        "end of a run that ignores how many were served",
                        "tonumber(match(words, '%d+$')) >= size",
                        "true"),
                Mutant.script(
                        "members that leave the queue with the grant",
                        "list = table.concat(ids, '\\n')\ncall('RPUSH'",
                        "list = table.concat(ids, '\\n')\ncall('ZREM', keys[2], unpack(ids))\ncall('HDEL', keys[3], unpack(ids))\ncall('RPUSH'"),
                Mutant.script(
                        "answers of a call in another order",
                        "answers[n] = failure",
                        "answers[count + 1 - n] = failure"),
                Mutant.script(
                        "readers beside a writer",
                        "is_ending = false\nsettle(own)",
                        "if is_share then forget_holder() end\nsettle(own)"),
                Mutant.script(
                        "one permit too many",
                        "count_taken + taken <= tonumber(permits)",
                        "count_taken + taken <= tonumber(permits) + 1"),
                Mutant.script(
                        "claim of many permits that is admitted as one",
                        "count_taken + taken <= tonumber(permits)",
                        "count_taken < tonumber(permits)"),
                Mutant.script(
                        "claim of one permit that passes the waiters",
                        "not own_token and not is_blocked and",
                        "not own_token and (not is_blocked or find(word, ':1/', 1, true)) and"),
                Mutant.script("release that frees one permit only", "add_surplus(1 - taken)", ""),
                Mutant.script(
                        "downgrade that lets a writer in",
                        "count_taken, ends = 1, now",
                        "call('DEL', keys[4])\ncount_taken, ends = 0, now"),
                writerThatBelievesAfterItsDowngrade(),
                exporterThatGoesOnBelieving(),
                Mutant.scripts(
                        "pushed grant without its attempt",
                        body -> body.replace(
                                        "local valid = ms + math.floor(math.max(0, now - at) / 1000)",
                                        "local valid = lease")
                                .replace("ms + math.floor(math.max(0, now - at) / 1000)", "its_lease")
                                .replace("ms + math.floor(math.max(0, now - sent) / 1000)", "tonumber(lease)")),
                Mutant.scripts(
                        "secret that is in a message",
                        body -> Stream.of(
                                        "return redis.sha1hex(secret .. ", "message = 'G ' .. redis.sha1hex(secret .. ")
                                .reduce(
                                        body,
                                        (text, it) -> text.replace(
                                                it, "redis.call('PUBLISH', channel, 'X ' .. secret)\n" + it))),
                Mutant.script("no tombstone", "call('ZADD', keys[5], digits(now + ms * 1000), id)", ""),
                Mutant.driver("script that is not sent again", () -> WrongDriver.errors("NOSCRIPT", "ERR no script")),
                Mutant.driver("grant whose signature is not checked", WrongDriver::trusting),
                Mutant.driver("grant that no replica has confirmed", WrongDriver::contentWithNone),
                Mutant.driver("replica that is not left", () -> WrongDriver.errors("READONLY ", "ERR read only ")),
                Mutant.withClonesOfOneSeed(),
                leastHoldThatEndsWithTheRelease(),
                adoptionThatForgetsTheLeastHold(),
                Mutant.backend("push grant naming a wrong attempt", (host, it) -> new NamesTheLastAttempt(it)),
                Mutant.backend("validity counted from the reply", CountsFromTheReply::new),
                Mutant.backend("withdrawal that forgets", (host, it) -> new ForgetsToWithdraw(it)),
                Mutant.backend("unknown renewal read as held", (host, it) -> new ReadsUnknownAsHeld(it)),
                nestedWorkThatGoesOn());
    }

    /** Mutants of the hand-over inside a process. */
    static List<Hunt> ofHandOver() {
        List<Hunt> hunts = new ArrayList<>(hunts(
                StoreKind.REDIS_HAND_OVER,
                Mutant.handOver("turn without a bound", WrongTenures.withoutABound()),
                Mutant.handOver("hand-over with a whole lease", WrongTenures.wholeLease())));
        // Tokens of Redis rise with its clock, faster than this process uses them up: there the mistake would seldom
        // show.
        hunts.addAll(hunts(
                StoreKind.MEMORY_HAND_OVER,
                Mutant.handOver("token that the back end has not acknowledged", WrongTenures.aboveTheCeiling()),
                Mutant.handOver("place that no claim wants", WrongTenures.leftPlace()),
                Mutant.handOver("block that is used after a loss", WrongTenures.blockAfterALoss())));
        return hunts;
    }

    static List<Hunt> ofZooKeeper() {
        return hunts(
                StoreKind.ZOOKEEPER,
                leaderThatIsToldLate(),
                Mutant.backend("loss by Curator's LOST alone", (host, it) -> new Believes(it, LONG)),
                Mutant.session("whole time-out", (timeout, it) -> new Believes(it, timeout)),
                Mutant.session(
                        "what the last transaction proves by itself",
                        (timeout, it) ->
                                new Believes(it, timeout.multipliedBy(2).dividedBy(3))),
                Mutant.backend("withdrawal that forgets", (host, it) -> new ForgetsToWithdraw(it)),
                writerThatBelievesAfterItsDowngrade(),
                Mutant.part("holder of the session that is passed over", WrongPart.PASSED_HOLDER),
                Mutant.part("numbers of a queue that was deleted", WrongPart.NUMBERS_OF_A_FORMER_QUEUE),
                Mutant.part("proof by a leader without a majority", WrongPart.PROOF_WITHOUT_A_MAJORITY),
                Mutant.backend("session taken as ended after a lease", GivesUpItsSession::new));
    }

    /** Mutants of the client, of its driver, or of the functions of the database. */
    static List<Hunt> ofPostgresql() {
        return hunts(
                StoreKind.POSTGRESQL,
                Mutant.sql("grant beside a fenced transaction", WrongSql.GRANT_BESIDE_A_FENCE),
                Mutant.sql("no tombstone", WrongSql.NO_TOMBSTONE),
                Mutant.sql("ticket that is not lowered", WrongSql.TICKET_THAT_IS_NOT_LOWERED),
                Mutant.sql("release by anybody", WrongSql.RELEASE_BY_ANYBODY),
                Mutant.sql("grant that is not flushed", WrongSql.GRANT_THAT_IS_NOT_FLUSHED),
                Mutant.sql("release as if all attempts were answered", WrongSql.RELEASE_THAT_IS_SURE),
                Mutant.sql("answers of a batch in another order", WrongSql.ANSWERS_IN_ANOTHER_ORDER),
                writerThatBelievesAfterItsDowngrade(),
                Mutant.backend("push grant naming a wrong attempt", (host, it) -> new NamesTheLastAttempt(it)),
                Mutant.backend("validity counted from the reply", CountsFromTheReply::new),
                Mutant.backend("withdrawal that forgets", (host, it) -> new ForgetsToWithdraw(it)),
                Mutant.backend("unknown renewal read as held", (host, it) -> new ReadsUnknownAsHeld(it)));
    }

    static List<Hunt> ofEtcd() {
        List<Hunt> hunts = new ArrayList<>(hunts(
                StoreKind.ETCD,
                Mutant.backend("withdrawal that forgets", (host, it) -> new ForgetsToWithdraw(it)),
                writerThatBelievesAfterItsDowngrade()));
        for (WrongEtcd wrong : WrongEtcd.values()) {
            if (wrong != WrongEtcd.NONE) {
                hunts.addAll(hunts(
                        StoreKind.ETCD,
                        Mutant.etcd(wrong.name().toLowerCase(Locale.ROOT).replace('_', ' '), wrong)));
            }
        }
        return hunts;
    }

    /** Mutants that are caught so seldom that no build runs them. */
    static List<Hunt> foundSeldom() {
        return Stream.of(
                        hunts(
                                StoreKind.ZOOKEEPER,
                                Mutant.part("proof that does not age", WrongPart.PROOF_THAT_DOES_NOT_AGE)),
                        hunts(StoreKind.CLUSTER, ClusterMutants.renewalThatIsNotTriedAgain()),
                        hunts(StoreKind.ETCD, leaderThatIsToldLate(), Mutant.withAnOldEtcd()),
                        // The contract of a back end and the tests of redis catch them at once.
                        hunts(
                                StoreKind.REDIS,
                                Mutant.backend(
                                        "late grant that releases an adopted lease",
                                        (host, it) -> new TakesAdoptedClaimsForWaiters(it)),
                                Mutant.script(
                                        "no tombstone of a reader",
                                        "if word and tonumber(attempt) >= number and",
                                        "if word and"),
                                Mutant.backend(
                                        "adoption that does not compare the token",
                                        (host, it) -> new AdoptsWithAnyToken(it)),
                                // No schedule has shown them since a mutex has one queue and grants runs.
                                Mutant.script(
                                        "renewal without an owner check",
                                        "sub(record, 1, 2) == '1H' and sub(record, -#id - 1) == '\\n' .. id and",
                                        "sub(record, 1, 2) == '1H' and"),
                                Mutant.scripts(
                                        "end of a run by another number",
                                        body -> body.replace("format('%.0f', token - size + 1) == number and", "")
                                                .replace("size > 1 and number_of_run() == number", "size > 1"))))
                .flatMap(List::stream)
                .toList();
    }

    private static List<Hunt> hunts(StoreKind kind, Mutant... mutants) {
        return Arrays.stream(mutants)
                .map(it -> new Hunt(kind, it, FIRST_SEEDS.getOrDefault(kind + " " + it.name(), 0L), MOST))
                .toList();
    }

    static List<Hunt> ofCluster() {
        return hunts(StoreKind.CLUSTER, ClusterMutants.all());
    }

    static List<Hunt> ofRedlock() {
        return hunts(
                StoreKind.REDLOCK,
                Mutant.withoutQuarantine(),
                Mutant.withClonesOfOneSeed(),
                Mutant.member("maximum token without write-back", (host, it) -> new WritesNothingBack(it)),
                Mutant.backend("validity counted from the reply", CountsFromTheReply::new),
                Mutant.backend("unknown renewal read as held", (host, it) -> new ReadsUnknownAsHeld(it)),
                writerThatBelievesAfterItsDowngrade(),
                releaseWithoutAnOwnerCheck());
    }

    private static Mutant releaseWithoutAnOwnerCheck() {
        return Mutant.script(
                "release without an owner check",
                "if its_id and space == 32 and size == 49 and line_end == 10 and find(text, number .. ' ', 36, true) == 36 then",
                "if true then");
    }

    /** Reports that nothing has happened in between. */
    private static final class DowngradesByARelease implements ForwardingLockBackend {

        private final LockBackend real;
        private final Map<String, Long> tokens = new HashMap<>();

        DowngradesByARelease(LockBackend real) {
            this.real = real;
        }

        @Override
        public LockBackend delegate() {
            return real;
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            if (claim.key().kind() != LockKind.READ || !tokens.containsKey(claim.id())) {
                return real.tryAcquire(claim).doOnNext(answer -> {
                    if (claim.key().kind() == LockKind.WRITE && answer instanceof LockAttempt.Acquired granted) {
                        tokens.put(claim.id(), granted.fencingToken());
                    }
                });
            }
            return real.release(claim.withAttempt(1))
                    .then(real.tryAcquire(claim))
                    .thenReturn(new LockAttempt.Acquired(tokens.get(claim.id()), claim.lease()));
        }
    }

    /** A renewal that is shorter than the lease keeps a lock for the rest of its least hold time. */
    private static final class ReleasesAtOnce implements ForwardingLockBackend {

        private final LockBackend real;
        private final boolean onlyAdopted;
        private final Set<String> acquired = new HashSet<>();
        private final Map<String, Duration> leases = new HashMap<>();

        ReleasesAtOnce(LockBackend real, boolean onlyAdopted) {
            this.real = real;
            this.onlyAdopted = onlyAdopted;
        }

        @Override
        public LockBackend delegate() {
            return real;
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            acquired.add(claim.id());
            leases.put(claim.id(), claim.lease());
            return real.tryAcquire(claim);
        }

        @Override
        public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
            leases.putIfAbsent(claim.id(), claim.lease());
            return real.adopt(claim, fencingToken);
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            leases.putIfAbsent(claim.id(), claim.lease());
            boolean isShorter = claim.lease().compareTo(leases.get(claim.id())) < 0;
            boolean isWrong = isShorter && !(onlyAdopted && acquired.contains(claim.id()));
            return isWrong ? real.release(claim).thenReturn(new Renewal.Held(claim.lease())) : real.renew(claim);
        }
    }

    /** An attempt of the exporter that came late may have taken the lock again, with a higher token. */
    private record AdoptsWithAnyToken(LockBackend delegate) implements ForwardingLockBackend {

        @Override
        public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
            return delegate.renew(claim);
        }
    }

    /** A grant that comes late is then taken for one that nobody wants any more. */
    private static final class TakesAdoptedClaimsForWaiters implements ForwardingLockBackend {

        private final LockBackend real;

        TakesAdoptedClaimsForWaiters(LockBackend real) {
            this.real = real;
        }

        @Override
        public LockBackend delegate() {
            return real;
        }

        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            return real.watch(claim.withWaiting(Waiting.QUEUE));
        }
    }

    private static final class NamesTheLastAttempt implements ForwardingLockBackend {

        private final LockBackend real;
        private final Map<String, Integer> lastAttempt = new HashMap<>();

        NamesTheLastAttempt(LockBackend real) {
            this.real = real;
        }

        @Override
        public LockBackend delegate() {
            return real;
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            lastAttempt.put(claim.id(), claim.attempt());
            return real.tryAcquire(claim);
        }

        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            return real.watch(claim)
                    .map(signal -> signal instanceof WatchSignal.Granted granted
                            ? new WatchSignal.Granted(
                                    granted.fencingToken(),
                                    lastAttempt.getOrDefault(claim.id(), granted.attempt()),
                                    granted.lease())
                            : signal);
        }
    }

    private static final class CountsFromTheReply implements ForwardingLockBackend {

        private final Host host;
        private final LockBackend real;

        CountsFromTheReply(Host host, LockBackend real) {
            this.host = host;
            this.real = real;
        }

        @Override
        public LockBackend delegate() {
            return real;
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return Mono.defer(() -> {
                long sent = host.nanoTime();
                return real.tryAcquire(claim)
                        .map(answer -> answer instanceof LockAttempt.Acquired acquired
                                ? new LockAttempt.Acquired(acquired.fencingToken(), later(acquired.lease(), sent))
                                : answer);
            });
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return Mono.defer(() -> {
                long sent = host.nanoTime();
                return real.renew(claim)
                        .map(answer -> answer instanceof Renewal.Held held
                                ? new Renewal.Held(later(held.lease(), sent))
                                : answer);
            });
        }

        private Duration later(Duration lease, long sent) {
            return lease.plusNanos(host.nanoTime() - sent);
        }
    }

    /** Releases only after a grant. */
    private static final class ForgetsToWithdraw implements ForwardingLockBackend {

        private final LockBackend real;
        private final Set<String> granted = new HashSet<>();

        ForgetsToWithdraw(LockBackend real) {
            this.real = real;
        }

        @Override
        public LockBackend delegate() {
            return real;
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return real.tryAcquire(claim).doOnNext(answer -> {
                if (answer instanceof LockAttempt.Acquired) {
                    granted.add(claim.id());
                }
            });
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return Mono.defer(() -> granted.contains(claim.id()) ? real.release(claim) : Mono.just(Ownership.NOT_HELD));
        }
    }

    private static final class ReadsUnknownAsHeld implements ForwardingLockBackend {

        private final LockBackend real;

        ReadsUnknownAsHeld(LockBackend real) {
            this.real = real;
        }

        @Override
        public LockBackend delegate() {
            return real;
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return real.renew(claim).onErrorReturn(new Renewal.Held(claim.lease()));
        }
    }

    /** Answers that a later attempt with a floor has raised the token, and sends no request. */
    private static final class WritesNothingBack implements ForwardingLockBackend {

        private final LockBackend real;
        private final Set<String> granted = new HashSet<>();

        WritesNothingBack(LockBackend real) {
            this.real = real;
        }

        @Override
        public LockBackend delegate() {
            return real;
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return Mono.defer(() -> granted.contains(claim.id()) && claim.tokenFloor() > 0
                    ? Mono.just(new LockAttempt.Acquired(claim.tokenFloor(), claim.lease()))
                    : real.tryAcquire(claim).doOnNext(answer -> {
                        if (answer instanceof LockAttempt.Acquired) {
                            granted.add(claim.id());
                        }
                    }));
        }
    }

    /** Replaces the lease duration of the back end's answer. */
    private static final class Believes implements ForwardingLockBackend {

        private final LockBackend real;
        private final Duration lease;

        Believes(LockBackend real, Duration lease) {
            this.real = real;
            this.lease = lease;
        }

        @Override
        public LockBackend delegate() {
            return real;
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return real.tryAcquire(claim)
                    .map(answer -> answer instanceof LockAttempt.Acquired acquired
                            ? new LockAttempt.Acquired(acquired.fencingToken(), lease)
                            : answer);
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return real.renew(claim).map(answer -> answer instanceof Renewal.Held ? new Renewal.Held(lease) : answer);
        }
    }

    /** After a lease without an answer, the client believes that its session has ended, and its nodes are deleted. */
    private static final class GivesUpItsSession implements ForwardingLockBackend {

        private final Host host;
        private final LockBackend real;
        private long failsSince = Long.MAX_VALUE;

        GivesUpItsSession(Host host, LockBackend real) {
            this.host = host;
            this.real = real;
        }

        @Override
        public LockBackend delegate() {
            return real;
        }

        private <T> Mono<T> observed(Mono<T> answer) {
            return answer.doOnError(error -> failsSince = Math.min(failsSince, host.nanoTime()))
                    .doOnSuccess(any -> failsSince = Long.MAX_VALUE);
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return observed(real.tryAcquire(claim));
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return observed(real.renew(claim));
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return Mono.defer(() -> host.nanoTime() - claim.lease().toNanos() >= failsSince
                    ? Mono.just(Ownership.NOT_HELD)
                    : observed(real.release(claim)));
        }
    }
}
