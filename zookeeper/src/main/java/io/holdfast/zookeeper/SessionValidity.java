package io.holdfast.zookeeper;

import java.time.Duration;

/**
 * How long an acknowledged request proves a session.
 *
 * <p>The server ends a session when it has not heard from it for the negotiated time-out T. A follower tells the leader of its sessions
 * every half tick, so at an answer the leader may know no more than the packet before, as it was half a tick ago. Two thirds of T leave T/3
 * for that and for clocks of different speed; record 0019 says when that is enough. They are also the time after which ZooKeeper's own
 * client gives up a silent server.
 */
final class SessionValidity {

    private SessionValidity() {}

    static Duration of(int negotiatedTimeoutMillis) {
        return Duration.ofMillis(negotiatedTimeoutMillis * 2L / 3);
    }
}
