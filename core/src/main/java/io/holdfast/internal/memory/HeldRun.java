package io.holdfast.internal.memory;

import io.holdfast.spi.LockRun;
import java.util.HashSet;
import java.util.Set;

/** The run that holds a lock, under the claim of its first member. */
final class HeldRun {

    final LockRun run;

    /** The first member, with its place. The other members stay among the waiters. */
    Waiter first;

    private final String client;

    /** The members that were withdrawn. All others are wanted, also those that the client has served. */
    final Set<String> gone = new HashSet<>();

    final Set<String> members;

    HeldRun(LockRun run, Waiter first) {
        this.run = run;
        members = Set.copyOf(run.members());
        this.first = first;
        client = first.claim().client();
    }

    String holder() {
        return first.claim().id();
    }

    boolean isFirstGone() {
        return gone.contains(holder());
    }

    boolean isWanted() {
        return gone.size() < members.size();
    }

    boolean isOf(String client) {
        return this.client.equals(client);
    }
}
