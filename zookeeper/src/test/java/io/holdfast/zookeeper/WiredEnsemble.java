package io.holdfast.zookeeper;

import io.holdfast.testkit.server.FreePorts;
import io.holdfast.testkit.server.TcpProxy;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;

/** Three servers. Each pair is connected through wires of its own, which a test can cut. */
final class WiredEnsemble implements AutoCloseable {

    static final String HOST = "127.0.0.1";

    private final Map<String, Object> properties;
    private final List<InstanceSpec> servers;

    /** The key is a pair of servers: the first one connects to the second one through the wire. */
    private final Map<List<Integer>, TcpProxy> wires = new HashMap<>();

    private final TestingCluster cluster;

    private InstanceSpec leader;
    private InstanceSpec follower;
    private InstanceSpec third;

    private WiredEnsemble(Map<String, Object> properties) {
        this.properties = properties;
        servers = IntStream.rangeClosed(1, 3)
                .mapToObj(id -> spec(null, FreePorts.next(), FreePorts.next(), FreePorts.next(), id))
                .toList();
        cluster = new TestingCluster(views());
    }

    /**
     * Starts the servers.
     *
     * @param properties for each server's configuration. The defaults are ticks of half a second, and five ticks until a silent server is
     *     given up
     */
    static WiredEnsemble start(Map<String, Object> properties) throws Exception {
        WiredEnsemble ensemble = new WiredEnsemble(properties);
        ensemble.cluster.start();
        return ensemble;
    }

    private InstanceSpec spec(File files, int port, int election, int quorum, int id) {
        return new InstanceSpec(files, port, election, quorum, true, id, Server.TICK_MILLIS, -1, properties, HOST);
    }

    private Map<InstanceSpec, Collection<InstanceSpec>> views() {
        Map<InstanceSpec, Collection<InstanceSpec>> views = new LinkedHashMap<>();
        for (InstanceSpec viewer : servers) {
            List<InstanceSpec> view = new ArrayList<>();
            for (InstanceSpec target : servers) {
                view.add(target.getServerId() == viewer.getServerId() ? target : throughAWire(viewer, target));
            }
            views.put(viewer, view);
        }
        return views;
    }

    private InstanceSpec throughAWire(InstanceSpec viewer, InstanceSpec target) {
        TcpProxy wire = TcpProxy.to(HOST, target.getQuorumPort());
        wires.put(List.of(viewer.getServerId(), target.getServerId()), wire);
        return spec(
                target.getDataDirectory(),
                target.getPort(),
                target.getElectionPort(),
                wire.port(),
                target.getServerId());
    }

    /** Waits for a leader and two followers. */
    void findTheLeader() {
        Waiting.until(
                "three servers",
                Duration.ofSeconds(30),
                () -> with("Mode: follower").size() == 2);
        List<InstanceSpec> followers = with("Mode: follower");
        leader = Waiting.untilSome(
                "a leader", () -> with("Mode: leader").stream().findFirst().orElse(null));
        follower = followers.get(0);
        third = followers.get(1);
    }

    /** Returns the wire of the follower's connection. "To the server" means to the leader. */
    TcpProxy wireToTheLeader() {
        return wires.get(List.of(follower.getServerId(), leader.getServerId()));
    }

    int followerPort() {
        return follower.getPort();
    }

    int thirdPort() {
        return third.getPort();
    }

    String atTheFollower() {
        return HOST + ':' + followerPort();
    }

    String atTheThird() {
        return HOST + ':' + thirdPort();
    }

    boolean followerHasNothingToDo() {
        return state(follower).contains("Outstanding: 0");
    }

    @Override
    public void close() throws IOException {
        cluster.close();
        wires.values().forEach(TcpProxy::close);
    }

    private List<InstanceSpec> with(String mode) {
        return servers.stream().filter(it -> state(it).contains(mode)).toList();
    }

    private static String state(InstanceSpec server) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getPort())) {
            socket.setSoTimeout(2_000);
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException down) {
            return "down";
        }
    }
}
