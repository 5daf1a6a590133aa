package io.holdfast.proof.sim;

/**
 * The connection of one follower to one leader. In each direction all messages arrive in order, until one end closes it. The other end gets the close
 * after all earlier messages. When a machine has died, it may never get it.
 */
final class FollowerLink {

    private final Ensemble ensemble;
    private final ZooPeer follower;
    private final Leadership leadership;
    private boolean isOpenAtFollower = true;
    private boolean isOpenAtLeader = true;

    /** At the leader: whether the follower has promised to follow no leader of an earlier epoch. */
    boolean hasPromised;

    /** At the leader: whether it sends proposals there. */
    boolean isForwarded;

    /** At the leader: whether the follower has the leader's initial state. */
    boolean isSynced;

    /** At the leader: the last transaction that the follower has written down. */
    long acknowledged = -1;

    /** In half ticks, since the leader has heard the follower. */
    int silentAtLeader;

    /** In half ticks, since the follower has heard the leader. */
    int silentAtFollower;

    FollowerLink(Ensemble ensemble, ZooPeer follower, Leadership leadership) {
        this.ensemble = ensemble;
        this.follower = follower;
        this.leadership = leadership;
    }

    ZooPeer follower() {
        return follower;
    }

    Leadership leadership() {
        return leadership;
    }

    void toLeader(Runnable task) {
        if (isOpenAtFollower) {
            ensemble.send(follower.server(), leadership.server(), () -> {
                if (isOpenAtLeader && leadership.isOver()) {
                    giveUp(); // the link was not open yet when the leadership ended
                } else if (isOpenAtLeader) {
                    silentAtLeader = 0;
                    task.run();
                }
            });
        }
    }

    void toFollower(Runnable task) {
        if (isOpenAtLeader) {
            ensemble.send(leadership.server(), follower.server(), () -> {
                if (isOpenAtFollower) {
                    silentAtFollower = 0;
                    task.run();
                }
            });
        }
    }

    /** By the follower. */
    void leave() {
        toLeader(this::leftByFollower);
        isOpenAtFollower = false;
    }

    /** By the leader. */
    void giveUp() {
        toFollower(this::leftByLeader);
        isOpenAtLeader = false;
    }

    /** The follower's machine has died. {@link #leave} sends nothing then; the system closes the link when it is up again. */
    void followerDied() {
        isOpenAtFollower = false;
    }

    void leaderDied() {
        isOpenAtLeader = false;
    }

    /** The machine of one end has died, or is up again: closes the link at the other end. */
    void reset() {
        ensemble.send(follower.server(), leadership.server(), this::leftByFollower);
        ensemble.send(leadership.server(), follower.server(), this::leftByLeader);
    }

    private void leftByFollower() {
        if (isOpenAtLeader) {
            isOpenAtLeader = false;
            leadership.lost(this);
        }
    }

    private void leftByLeader() {
        if (isOpenAtFollower) {
            isOpenAtFollower = false;
            follower.lookForLeader();
        }
    }
}
