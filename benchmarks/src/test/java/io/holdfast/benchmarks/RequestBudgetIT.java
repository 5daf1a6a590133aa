package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.Peer;
import io.holdfast.benchmarks.peer.ZooKeeperPeer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The requests of the whole client to ZooKeeper, as the server counts them. They do not depend on the speed of the machine. */
class RequestBudgetIT {

    private static final int CYCLES = 200;

    /** Allows for pings of the session, reads that keep a lease, and the query of the count itself. */
    private static final int NOW_AND_THEN = CYCLES / 10;

    private static final Pattern RECEIVED = Pattern.compile("Received: (\\d+)");

    /** Create and delete: the number of the node shows that no other client came in between. The client does not watch a lock that it holds for a moment only. */
    @Test
    void uncontendedCycleIsTwoRequests() throws Exception {
        try (TestingServer server = new TestingServer(true);
                Peer peer = ZooKeeperPeer.HOLDFAST.open(
                        new Addresses("", List.of(), List.of(), server.getConnectString()))) {
            cycles(peer, 10);
            long before = received(server.getPort());
            cycles(peer, CYCLES);
            long requests = received(server.getPort()) - before;
            System.out.printf("[holdfast] ZooKeeper requests for %d uncontended cycles: %d%n", CYCLES, requests);
            assertThat(requests).isBetween(2L * CYCLES, 2L * CYCLES + NOW_AND_THEN);
        }
    }

    /** One transaction creates the queue with its first node. So a name that is used once costs no more than one that is used often. */
    @Test
    void cycleOfANewNameIsTwoRequests() throws Exception {
        try (TestingServer server = new TestingServer(true);
                Peer peer = ZooKeeperPeer.HOLDFAST.open(
                        new Addresses("", List.of(), List.of(), server.getConnectString()))) {
            cycles(peer, 10);
            long before = received(server.getPort());
            Object unused = Flux.range(0, CYCLES)
                    .concatMap(number -> peer.cycle("order/" + number, Mono.empty()))
                    .then()
                    .block(Duration.ofSeconds(60));
            long requests = received(server.getPort()) - before;
            System.out.printf("[holdfast] ZooKeeper requests for %d cycles of new names: %d%n", CYCLES, requests);
            assertThat(requests).isBetween(2L * CYCLES, 2L * CYCLES + NOW_AND_THEN);
        }
    }

    private static void cycles(Peer peer, int count) {
        Object unused =
                peer.cycle("orders", Mono.empty()).repeat(count - 1L).then().block(Duration.ofSeconds(60));
    }

    private static long received(int port) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            Matcher line = RECEIVED.matcher(answer);
            assertThat(line.find()).as(answer).isTrue();
            return Long.parseLong(line.group(1));
        }
    }
}
