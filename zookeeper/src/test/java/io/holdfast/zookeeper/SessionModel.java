package io.holdfast.zookeeper;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * One session, its client, two followers and the leader, in milliseconds: what the leader knows of the session, against what the client
 * believes. Messages take any time, in order on each wire. The follower's wire is cut, in one direction or both; the client stands still,
 * loses its connection and finds another server. What is assumed is what {@link SessionProof} says.
 */
final class SessionModel {

    static final int TIMEOUT = 2_400;

    private static final int LEADER = 2;
    private static final int END = 6 * TIMEOUT;
    private static final int[] TICKS = {2, 3, 4, 5, 10, 20};

    private record Event(long at, long number, Runnable action) {}

    private static final class Sent {
        final long at;
        boolean isOver;

        /** What the client learns by the answer; null as long as the server has none. */
        @Nullable
        Runnable answer;

        Sent(long at) {
            this.at = at;
        }
    }

    /** What it came to. */
    record Outcome(long endedAt, long believedUntil, long believedByTheOldRuleUntil, int leases) {}

    private final Random random;
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::number));
    private final int halfTick;
    private final boolean[] isTouched = new boolean[2];
    private final long[] wireToLeader = new long[3];
    private final long[] lastPing = new long[2];
    private final SessionProof proof = new SessionProof(0, TIMEOUT);
    private final Deque<Sent> outstanding = new ArrayDeque<>();

    /** Of one connection: a server answers in the order in which it was asked, reads behind a transaction, too. */
    private Deque<Sent> atServer = new ArrayDeque<>();

    private final int cutAfter;
    private final boolean cutsToLeader;
    private final boolean cutsFromLeader;

    private long cutAt;
    private int transactions;
    private long numbers;
    private long now = -2 * TIMEOUT;
    private long leaderHeardAt = now;
    private long endedAt = Long.MAX_VALUE;

    private int server;
    private int connection;
    private boolean isConnected = true;
    private long wireToServer;
    private long wireToClient;
    private long standsStillUntil;
    private int leases;

    /** A session that is found is listened to, which is the first request. */
    private long lastSent = -TIMEOUT;

    private long believedUntil = Long.MIN_VALUE;
    private long believedByTheOldRuleUntil = Long.MIN_VALUE;

    SessionModel(long seed) {
        random = new Random(seed);
        halfTick = TIMEOUT / TICKS[random.nextInt(TICKS.length)] / 2;
        cutAt = random.nextInt(12 * TIMEOUT);
        cutAfter = random.nextInt(12);
        int which = random.nextInt(3);
        cutsToLeader = which != 0;
        cutsFromLeader = which != 1;
        server = random.nextInt(8) == 0 ? LEADER : 0;
        Arrays.fill(lastPing, now);
        Arrays.fill(wireToLeader, now);
    }

    Outcome run() {
        for (int follower = 0; follower < 2; follower++) {
            int to = follower;
            at(now + random.nextInt(halfTick), () -> ping(to));
        }
        at(now, this::driverBeforeItWasFound);
        at(0, this::pulse);
        at(random.nextInt(2 * TIMEOUT), this::transact);
        at(random.nextInt(4 * TIMEOUT), this::standStill);
        at(random.nextInt(8 * TIMEOUT), this::loseTheConnection);
        while (!events.isEmpty()) {
            Event next = events.poll();
            if (next.at() > END) {
                break;
            }
            if (next.at() >= leaderHeardAt + TIMEOUT && endedAt == Long.MAX_VALUE) {
                endedAt = leaderHeardAt + TIMEOUT;
            }
            now = next.at();
            next.action().run();
        }
        endedAt = Math.min(endedAt, leaderHeardAt + TIMEOUT);
        return new Outcome(endedAt, believedUntil, believedByTheOldRuleUntil, leases);
    }

    private void at(long time, Runnable action) {
        events.add(new Event(time, numbers++, action));
    }

    private boolean isAlive() {
        return endedAt == Long.MAX_VALUE;
    }

    private long delay() {
        return switch (random.nextInt(12)) {
            case 0 -> random.nextInt(TIMEOUT / 3);
            case 1 -> random.nextInt(TIMEOUT / 12);
            default -> random.nextInt(3);
        };
    }

    /** Twice a tick. One may come T/24 later than the one before it, which is what is assumed. */
    private void ping(int follower) {
        long sent = now;
        at(now + halfTick, () -> ping(follower));
        if (cutsFromLeader && follower == 0 && now >= cutAt) {
            return;
        }
        lastPing[follower] = Math.max(lastPing[follower], sent + random.nextInt(TIMEOUT / 24));
        at(lastPing[follower], () -> {
            if (isTouched[follower]) {
                isTouched[follower] = false;
                toLeader(follower, this::touch);
            }
        });
    }

    private void touch() {
        if (isAlive()) {
            leaderHeardAt = now;
        }
    }

    /** In order, and never when the wire is cut before it arrives. */
    private void toLeader(int from, Runnable arrived) {
        wireToLeader[from] = Math.max(wireToLeader[from], now + (from == LEADER ? 0 : delay()));
        long arrival = wireToLeader[from];
        at(arrival, () -> {
            if (from != 0 || !cutsToLeader || now < cutAt) {
                arrived.run();
            }
        });
    }

    private void driverBeforeItWasFound() {
        touched(server);
        long next = now + 1 + random.nextInt(TIMEOUT / 3);
        if (next <= 0) {
            at(next, this::driverBeforeItWasFound);
        }
    }

    private void touched(int by) {
        if (by == LEADER) {
            touch();
        } else {
            isTouched[by] = true;
        }
    }

    private void pulse() {
        whenAwake(() -> {
            if (isConnected && now - lastSent >= TIMEOUT / 6) {
                send(false);
            }
            at(now + 10, this::pulse);
        });
    }

    private void transact() {
        whenAwake(() -> {
            if (isConnected) {
                send(true);
            }
            at(now + 1 + random.nextInt(random.nextBoolean() ? TIMEOUT / 4 : TIMEOUT), this::transact);
        });
    }

    private void standStill() {
        standsStillUntil = now + random.nextInt(TIMEOUT);
        at(now + random.nextInt(3 * TIMEOUT), this::standStill);
    }

    private void whenAwake(Runnable action) {
        if (now < standsStillUntil) {
            at(standsStillUntil, () -> whenAwake(action));
        } else {
            action.run();
        }
    }

    private void loseTheConnection() {
        int next = cutAt <= now ? 1 + random.nextInt(2) : random.nextInt(3);
        connection++;
        isConnected = false;
        int mine = connection;
        long lost = now;
        long known = now + delay();
        at(
                known,
                () -> whenAwake(() -> {
                    outstanding.forEach(sent -> {
                        if (!sent.isOver) {
                            sent.isOver = true;
                            proof.lost(sent.at * 1_000_000L);
                        }
                    });
                    outstanding.clear();
                    atServer = new ArrayDeque<>();
                    at(now + delay(), () -> connect(next, mine, lost));
                }));
        at(now + TIMEOUT / 2 + random.nextInt(4 * TIMEOUT), this::loseTheConnection);
    }

    private void connect(int to, int mine, long lost) {
        toLeader(to, () -> {
            if (isAlive() && mine == connection && now > lost) {
                touch();
                at(
                        now + delay(),
                        () -> whenAwake(() -> {
                            if (mine == connection) {
                                server = to;
                                isConnected = true;
                                wireToServer = now;
                                wireToClient = now;
                            }
                        }));
            }
        });
    }

    private void send(boolean isTransaction) {
        Sent sent = new Sent(now);
        int mine = connection;
        int by = server;
        Deque<Sent> before = atServer;
        lastSent = now;
        proof.sends(now * 1_000_000L);
        outstanding.addLast(sent);
        wireToServer = Math.max(wireToServer, now + delay());
        at(wireToServer, () -> {
            touched(by);
            before.addLast(sent);
            if (!isTransaction) {
                sent.answer = () -> proof.answered(sent.at * 1_000_000L, now * 1_000_000L);
                answerInOrder(before, mine);
            } else {
                toLeader(by, () -> {
                    boolean isAnswered = isAlive() && (by != 0 || !cutsFromLeader || now < cutAt);
                    if (isAnswered) {
                        if (++transactions == cutAfter) {
                            cutAt = now + 1; // the worst moment: the leader has not pinged the follower since
                        }
                        sent.answer = () -> agreed(sent);
                        answerInOrder(before, mine);
                    }
                });
            }
        });
    }

    private void answerInOrder(Deque<Sent> asked, int mine) {
        Sent next = asked.peekFirst();
        while (next != null && next.answer != null) {
            answer(next, mine, next.answer);
            asked.removeFirst();
            next = asked.peekFirst();
        }
    }

    private void answer(Sent sent, int mine, Runnable learn) {
        wireToClient = Math.max(wireToClient, now + delay());
        at(
                wireToClient,
                () -> whenAwake(() -> {
                    if (mine == connection && isConnected && !sent.isOver && isTheFirst(sent)) {
                        sent.isOver = true;
                        outstanding.removeFirst();
                        learn.run();
                    }
                }));
    }

    /** At the instant at which the client goes on, answers may come in another order; those are as good as lost here. */
    private boolean isTheFirst(Sent sent) {
        return sent == outstanding.peekFirst();
    }

    private void agreed(Sent sent) {
        proof.agreed(sent.at * 1_000_000L, now * 1_000_000L);
        if (proof.isLease()) {
            leases++;
            believedUntil = Math.max(believedUntil, sent.at + proof.lease().toMillis());
        }
        believedByTheOldRuleUntil = Math.max(believedByTheOldRuleUntil, sent.at + TIMEOUT * 2 / 3);
    }
}
