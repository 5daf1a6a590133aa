package io.holdfast.zookeeper.internal.session;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A model of one session, its client, two followers and the leader, in milliseconds. It compares what the leader knows of the session with
 * what the client believes. Messages take any time, but stay in order in each direction of each wire. The follower's wire is cut or delayed
 * for long, in one direction or both. The client pauses, loses its connection and finds another server. The assumptions are those of {@link
 * SessionValidity}.
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

        /** What the client learns from the answer; null while the server has none. */
        @Nullable
        Runnable answer;

        Sent(long at) {
            this.at = at;
        }
    }

    /** The result of a run. */
    record Outcome(
            long endedAt,
            long believedUntil,
            long believedByTheTransactionUntil,
            long believedByOneTransactionUntil,
            int leases) {}

    private final Random random;
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::number));
    private final int halfTick;
    private final boolean[] isTouched = new boolean[2];
    private final long[] wireToLeader = new long[3];
    private final long[] wireFromLeader = new long[2];
    private final SessionValidity validity = new SessionValidity(0, TIMEOUT);
    private final Deque<Sent> outstanding = new ArrayDeque<>();

    /** The requests of one connection: a server answers them in order, reads behind a transaction, too. */
    private Deque<Sent> atServer = new ArrayDeque<>();

    private final int cutAfter;
    private final boolean cutsToLeader;
    private final boolean cutsFromLeader;

    private long cutAt;
    private final boolean holdsUpFromLeader;
    private final long heldUpFrom;
    private final long heldUpUntil;

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

    /** The first request sets a watch on the session that was found. */
    private long leaderLastAsked = -TIMEOUT;

    /** For the rule before the present one: the newest request counts whose answer came 7/24 T before the transaction. */
    private final Deque<long[]> answers = new ArrayDeque<>();

    private long settled = Long.MIN_VALUE / 2;

    private long believedUntil = Long.MIN_VALUE;
    private long believedByTheTransactionUntil = Long.MIN_VALUE;
    private long believedByOneTransactionUntil = Long.MIN_VALUE;

    SessionModel(long seed) {
        random = new Random(seed);
        halfTick = TIMEOUT / TICKS[random.nextInt(TICKS.length)] / 2;
        cutAt = random.nextInt(12 * TIMEOUT);
        cutAfter = random.nextInt(12);
        int which = random.nextInt(3);
        cutsToLeader = which != 0;
        cutsFromLeader = which != 1;
        server = random.nextInt(8) == 0 ? LEADER : 0;
        holdsUpFromLeader = random.nextInt(4) != 0;
        heldUpFrom = random.nextInt(6 * TIMEOUT);
        heldUpUntil = heldUpFrom + (random.nextInt(4) == 0 ? random.nextInt(2 * TIMEOUT) : 0);
        Arrays.fill(wireFromLeader, now);
        Arrays.fill(wireToLeader, now);
    }

    Outcome run() {
        for (int follower = 0; follower < 2; follower++) {
            int to = follower;
            at(now + random.nextInt(halfTick), () -> ping(to));
        }
        at(now, this::driverBeforeItWasFound);
        at(0, this::heartbeat);
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
        return new Outcome(
                endedAt, believedUntil, believedByTheTransactionUntil, believedByOneTransactionUntil, leases);
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

    /** Pings twice a tick. A ping may be sent T/24 late, which is the assumption. */
    private void ping(int follower) {
        at(now + halfTick + random.nextInt(TIMEOUT / 24), () -> ping(follower));
        fromLeader(follower, () -> {
            if (isTouched[follower]) {
                isTouched[follower] = false;
                toLeader(follower, this::touch);
            }
        });
    }

    /** Delivers in order, and not if the wire is cut before the arrival. */
    private void fromLeader(int to, Runnable arrived) {
        if (to == LEADER) {
            arrived.run();
            return;
        }
        long sent = now;
        if (to == 0 && holdsUpFromLeader && now >= heldUpFrom && now < heldUpUntil) {
            sent = heldUpUntil;
        }
        wireFromLeader[to] = Math.max(wireFromLeader[to], sent + delay());
        long arrival = wireFromLeader[to];
        at(arrival, () -> {
            if (to != 0 || !cutsFromLeader || now < cutAt) {
                arrived.run();
            }
        });
    }

    private void touch() {
        if (isAlive()) {
            leaderHeardAt = now;
        }
    }

    /** Delivers in order, and not if the wire is cut before the arrival. */
    private void toLeader(int from, Runnable arrived) {
        long sent = now;
        if (from == 0 && !holdsUpFromLeader && now >= heldUpFrom && now < heldUpUntil) {
            sent = heldUpUntil;
        }
        wireToLeader[from] = Math.max(wireToLeader[from], from == LEADER ? now : sent + delay());
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

    private void heartbeat() {
        whenAwake(() -> {
            if (isConnected && now - leaderLastAsked >= TIMEOUT / 6) {
                send(Kind.SYNC);
            }
            if (isConnected && random.nextInt(20) == 0) {
                send(Kind.READ);
            }
            at(now + 10, this::heartbeat);
        });
    }

    private void transact() {
        whenAwake(() -> {
            if (isConnected) {
                send(Kind.TRANSACTION);
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
                            validity.lost(sent.at * 1_000_000L);
                            settled = Math.max(settled, sent.at);
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

    private enum Kind {
        READ,
        SYNC,
        TRANSACTION
    }

    private void send(Kind kind) {
        Sent sent = new Sent(now);
        int mine = connection;
        int by = server;
        Deque<Sent> before = atServer;
        if (kind != Kind.READ) {
            leaderLastAsked = now;
            validity.asksTheLeader(now * 1_000_000L);
        }
        outstanding.addLast(sent);
        wireToServer = Math.max(wireToServer, now + delay());
        at(wireToServer, () -> {
            touched(by);
            before.addLast(sent);
            if (kind == Kind.READ) {
                sent.answer = () -> answered(sent);
                answerInOrder(before, mine);
            } else {
                toLeader(by, () -> {
                    boolean isAnswered = isAlive() || kind == Kind.SYNC;
                    if (isAnswered) {
                        boolean isWorst = kind == Kind.TRANSACTION && ++transactions == cutAfter;
                        fromLeader(by, () -> {
                            if (isWorst) {
                                cutAt = now + 1; // the leader has sent the follower no ping since
                            }
                            sent.answer = () -> leaderAnswered(sent, kind);
                            answerInOrder(before, mine);
                        });
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

    /** When the client resumes, answers may come in another order. The model treats those as lost. */
    private boolean isTheFirst(Sent sent) {
        return sent == outstanding.peekFirst();
    }

    private void answered(Sent sent) {
        validity.answered(sent.at * 1_000_000L, now * 1_000_000L);
        answers.addLast(new long[] {sent.at, now});
    }

    private void leaderAnswered(Sent sent, Kind kind) {
        if (kind == Kind.SYNC) {
            validity.leaderAnswered(sent.at * 1_000_000L, now * 1_000_000L);
        } else {
            validity.agreed(sent.at * 1_000_000L, now * 1_000_000L);
            if (validity.isLease()) {
                leases++;
                believedUntil =
                        Math.max(believedUntil, sent.at + validity.lease().toMillis());
            }
            believeByFormerRules(sent);
        }
        answers.addLast(new long[] {sent.at, now});
    }

    private void believeByFormerRules(Sent sent) {
        long last = sent.at + TIMEOUT * 2 / 3;
        believedByTheTransactionUntil = Math.max(believedByTheTransactionUntil, last);
        while (!answers.isEmpty() && answers.getFirst()[1] <= sent.at - TIMEOUT / 24 * 7) {
            settled = Math.max(settled, answers.removeFirst()[0]);
        }
        long believed = Math.min(last, settled + TIMEOUT / 24 * 23);
        believedByOneTransactionUntil = Math.max(believedByOneTransactionUntil, believed);
    }
}
