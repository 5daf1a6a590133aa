package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Proxies between each client and each server, so that a fault of the network can hit one client only. */
final class Wires implements AutoCloseable {

    private static final int MOST_DELAY_MILLIS = 400;
    private static final int MOST_BYTES = 3_000;

    /** The wires by client, then by server. */
    private final List<List<TcpProxy>> proxies = new ArrayList<>();

    /**
     * Opens the wires.
     *
     * @param ports the ports of the servers on this machine
     */
    Wires(int clients, List<Integer> ports) {
        for (int i = 0; i < clients; i++) {
            proxies.add(
                    ports.stream().map(port -> TcpProxy.to("127.0.0.1", port)).toList());
        }
    }

    /** Returns the ports by which a client reaches the servers. */
    List<Integer> ports(int client) {
        return proxies.get(client).stream().map(TcpProxy::port).toList();
    }

    Map<FaultKind, Strike.Fault> faults() {
        Map<FaultKind, Strike.Fault> faults = new LinkedHashMap<>();
        faults.put(FaultKind.REQUESTS_DROPPED, strike -> whileLasting(strike, it -> it.drop(Direction.TO_SERVER)));
        faults.put(FaultKind.ANSWERS_DROPPED, strike -> whileLasting(strike, it -> it.drop(Direction.TO_CLIENT)));
        faults.put(
                FaultKind.CLIENT_CUT_OFF,
                strike -> whileLasting(
                        strike, strike.oneOf(proxies), it -> it.drop(Direction.TO_SERVER, Direction.TO_CLIENT)));
        faults.put(FaultKind.CONNECTIONS_RESET, strike -> whileLasting(strike, TcpProxy::cut));
        faults.put(
                FaultKind.CONNECTIONS_REFUSED,
                strike -> whileLasting(strike, it -> {
                    it.refuse();
                    it.cut();
                }));
        faults.put(
                FaultKind.BYTES_DELAYED,
                strike -> whileLasting(strike, it -> it.delay(direction(strike), delay(strike))));
        faults.put(
                FaultKind.CUT_IN_MIDSTREAM,
                strike -> whileLasting(strike, it -> it.cutAfter(direction(strike), strike.other(MOST_BYTES))));
        return faults;
    }

    private static Direction direction(Strike strike) {
        return strike.other(2) == 0 ? Direction.TO_SERVER : Direction.TO_CLIENT;
    }

    private static Duration delay(Strike strike) {
        return Duration.ofMillis(1 + strike.other(MOST_DELAY_MILLIS));
    }

    private interface Damage {
        void to(TcpProxy proxy);
    }

    /** Damages all wires of one client, or one of them, for the time of the strike. */
    private void whileLasting(Strike strike, Damage damage) throws InterruptedException {
        List<TcpProxy> all = strike.oneOf(proxies);
        int one = strike.other(2 * all.size());
        whileLasting(strike, one < all.size() ? List.of(all.get(one)) : all, damage);
    }

    private static void whileLasting(Strike strike, List<TcpProxy> hit, Damage damage) throws InterruptedException {
        try {
            hit.forEach(damage::to);
            strike.last();
        } finally {
            hit.forEach(TcpProxy::pass);
        }
    }

    @Override
    public void close() {
        proxies.forEach(all -> all.forEach(TcpProxy::close));
    }
}
