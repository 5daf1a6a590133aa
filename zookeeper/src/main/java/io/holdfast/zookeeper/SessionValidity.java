package io.holdfast.zookeeper;

import java.time.Duration;

/**
 * How long an acknowledged request proves a session.
 *
 * <p>The server ends a session when it has not heard from it for the negotiated time-out T. A follower tells the leader of its sessions
 * every half tick, and T is at least two ticks by default, so the leader may know up to T/4 less than it seems. Two thirds of T leave T/3 for that
 * and for clocks of different speed. They are also the time after which ZooKeeper's own client gives up a silent server.
 */
final class SessionValidity {

    private SessionValidity() {}

    static Duration of(int negotiatedTimeoutMillis) {
        return Duration.ofMillis(negotiatedTimeoutMillis * 2L / 3);
    }
}
