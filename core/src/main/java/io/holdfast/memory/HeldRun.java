package io.holdfast.memory;

import io.holdfast.spi.LockRun;
import java.util.List;

/** The run that holds a lock, under the claim of its first member. */
final class HeldRun {

    final LockRun run;

    /** The first member, with its place. The other members stay among the waiters. */
    final Waiter first;

    /** Whether the first member was withdrawn. */
    boolean isFirstGone;

    HeldRun(LockRun run, Waiter first) {
        this.run = run;
        this.first = first;
    }

    String holder() {
        return first.claim().id();
    }

    /** Returns the index of a member; -1 for any other claim. */
    int index(String id) {
        return run.members().indexOf(id);
    }

    boolean isMember(String id) {
        return index(id) >= 0;
    }

    boolean isOf(String client) {
        return first.claim().client().equals(client);
    }

    List<String> others() {
        return run.members().subList(1, run.members().size());
    }
}
