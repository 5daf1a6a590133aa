package io.holdfast.redlock.internal.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockAttempt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A model of masters and elections without time: any counters and proposals, requests and answers in any order or lost,
 * second rounds that fail in halves. Masters grant to one claim after the other, each with a higher token. Then tokens
 * of owners rise strictly, though grants above its token may win a lease.
 */
class TokensRiseTest {

    private static final int HISTORIES = 20_000;
    private static final Duration LEASE = Duration.ofSeconds(30);

    @Test
    void tokensRiseFromOwnerToOwnerWithAnyMajoritiesAndAnyClocks() {
        int owners = 0;
        int aboveTheToken = 0;
        for (int seed = 0; seed < HISTORIES; seed++) {
            History history = new History(seed);
            history.run();
            owners += history.owners;
            aboveTheToken += history.aboveTheToken;
        }
        assertThat(owners).isGreaterThan(HISTORIES);
        assertThat(aboveTheToken)
                .as("leases that a grant above the token has won")
                .isGreaterThan(HISTORIES / 100);
    }

    private static final class Store {

        private long last;
        private int owner = -1;
        private long granted;
        private final Set<Integer> released = new HashSet<>();

        LockAttempt attempt(int claim, long floor, long clock) {
            if (released.contains(claim) || (owner != -1 && owner != claim)) {
                return new LockAttempt.Contended(Duration.ofMillis(1));
            }
            if (owner != claim || granted < floor) {
                last = Math.max(Math.max(last + 1, floor), owner == claim ? 0 : clock);
                granted = last;
            }
            owner = claim;
            return new LockAttempt.Acquired(granted, LEASE);
        }

        void release(int claim) {
            released.add(claim);
            owner = owner == claim ? -1 : owner;
        }
    }

    private static final class Claim {

        final int number;
        final AcquireQuorum quorum;
        boolean isDecided;
        boolean isOver;

        Claim(int number, int masters) {
            this.number = number;
            quorum = AcquireQuorum.of(masters, 0);
        }
    }

    private static final class History {

        private final int seed;
        private final Random random;
        private final List<Store> stores;
        private final long[] clocks;
        private final List<Claim> claims = new ArrayList<>();
        private final List<Runnable> underWay = new ArrayList<>();
        private long lastToken;
        private int owners;
        private int aboveTheToken;

        /** The claim that holds the lock, as its owner knows; at most one. */
        private Claim holder = null;

        History(int seed) {
            this.seed = seed;
            random = new Random(seed);
            int masters = 3 + 2 * random.nextInt(2);
            stores = Stream.generate(Store::new).limit(masters).toList();
            clocks = random.longs(masters, 0, 30).toArray();
            stores.forEach(it -> it.last = random.nextInt(30));
        }

        void run() {
            for (int step = 0; step < 150; step++) {
                int chance = random.nextInt(12);
                if (chance == 0 && claims.size() < 8) {
                    sendAttempts();
                } else if (chance == 1 && holder != null) {
                    end(holder);
                    holder = null;
                } else if (!underWay.isEmpty()) {
                    underWay.remove(random.nextInt(underWay.size())).run();
                }
            }
        }

        private void sendAttempts() {
            Claim claim = new Claim(claims.size(), stores.size());
            claims.add(claim);
            long proposal = random.nextBoolean() ? 0 : random.nextInt(40);
            IntStream.range(0, stores.size()).forEach(master -> send(claim, master, proposal));
        }

        private void send(Claim claim, int master, long floor) {
            underWay.add(() -> {
                if (random.nextInt(10) == 0) {
                    underWay.add(() -> heard(claim, master, null));
                    return; // the request is lost
                }
                LockAttempt answer =
                        stores.get(master).attempt(claim.number, floor, clocks[master] += random.nextInt(3));
                boolean isReplyLost = random.nextInt(10) == 0;
                underWay.add(() -> heard(claim, master, isReplyLost ? null : answer));
            });
        }

        private void heard(Claim claim, int master, LockAttempt answer) {
            if (claim.isOver || claim.isDecided) {
                return; // its release is on the way, or it does not matter any more
            }
            if (answer == null) {
                claim.quorum.failed(master);
            } else {
                claim.quorum.heard(master, answer);
            }
            AcquireQuorum.Next next = claim.quorum.next();
            if (next instanceof AcquireQuorum.Next.Raise raise) {
                raise.masters().forEach(it -> send(claim, it, raise.token()));
            } else if (next instanceof AcquireQuorum.Next.Won won) {
                won(claim, won.token());
            } else if (!(next instanceof AcquireQuorum.Next.Open)) {
                end(claim);
            }
        }

        private void won(Claim claim, long token) {
            claim.isDecided = true;
            assertThat(holder).as("seed %d: another holder", seed).isNull();
            assertThat(token)
                    .as("seed %d: token of claim %d", seed, claim.number)
                    .isGreaterThan(lastToken);
            holder = claim;
            lastToken = token;
            owners++;
            long exactly = stores.stream()
                    .filter(it -> it.owner == claim.number && it.granted == token)
                    .count();
            aboveTheToken += exactly < VoteCount.majorityOf(stores.size()) ? 1 : 0;
        }

        private void end(Claim claim) {
            claim.isOver = true;
            stores.forEach(store -> underWay.add(() -> store.release(claim.number)));
        }
    }
}
