package io.holdfast.zookeeper;

import io.holdfast.proof.sim.Ensemble;
import io.holdfast.proof.sim.Host;
import io.holdfast.proof.sim.Network;
import io.holdfast.spi.LockBackend;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.CuratorZookeeperClient;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.framework.listen.Listenable;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooKeeper;
import reactor.core.Disposable;

/** The part of Curator that our back end uses: the handle of the session, another handle after its expiry, and the state of the connection. */
public final class SimulatedCurator {

    private final Host host;
    private final Network network;
    private final Ensemble ensemble;
    private final WrongPart wrong;
    private final List<ConnectionStateListener> listeners = new ArrayList<>();
    private ZooKeeper handle;

    private SimulatedCurator(Host host, Network network, Ensemble ensemble, WrongPart wrong) {
        this.host = host;
        this.wrong = wrong;
        this.network = network;
        this.ensemble = ensemble;
        open();
    }

    /** Makes the real back end over a simulated ensemble. */
    public static LockBackend backend(Host host, Network network, Ensemble ensemble, WrongPart wrong) {
        SimulatedCurator curator = new SimulatedCurator(host, network, ensemble, wrong);
        return ZooKeeperLockBackend.builder(curator.face())
                .scheduler(host)
                .mayBlock(host)
                .parts(wrong.parts())
                .build();
    }

    private void open() {
        handle = SimulatedZooKeeper.open(host, network, ensemble, wrong, this::connected, () -> {
            Disposable unused = host.schedule(this::open, 1, TimeUnit.MILLISECONDS);
        });
    }

    private void connected() {
        Disposable unused = host.schedule(() ->
                List.copyOf(listeners).forEach(listener -> listener.stateChanged(null, ConnectionState.RECONNECTED)));
    }

    private CuratorFramework face() {
        CuratorZookeeperClient client = new CuratorZookeeperClient("nowhere", 2_000, 1_000, null, new RetryOneTime(1)) {
            @Override
            public ZooKeeper getZooKeeper() {
                return handle;
            }
        };
        Object states = proxy(Listenable.class, (self, method, args) -> {
            if (method.getName().equals("addListener")) {
                listeners.add((ConnectionStateListener) args[0]);
            } else {
                listeners.remove((ConnectionStateListener) args[0]);
            }
            return null;
        });
        Object never = proxy(Listenable.class, (self, method, args) -> null); // its owner never closes it
        return (CuratorFramework) proxy(CuratorFramework.class, (self, method, args) -> switch (method.getName()) {
            case "getConnectionStateListenable" -> states;
            case "getZookeeperClient" -> client;
            case "getNamespace" -> "";
            case "getState" -> CuratorFrameworkState.STARTED;
            case "getCuratorListenable" -> never;
            case "equals" -> self == args[0];
            case "hashCode" -> 1;
            case "toString" -> "curator of " + host;
            default -> throw new UnsupportedOperationException("not simulated: " + method);
        });
    }

    private static Object proxy(Class<?> type, InvocationHandler calls) {
        return Proxy.newProxyInstance(SimulatedCurator.class.getClassLoader(), new Class<?>[] {type}, calls);
    }
}
