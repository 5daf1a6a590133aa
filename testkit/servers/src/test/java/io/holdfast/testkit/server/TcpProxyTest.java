package io.holdfast.testkit.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.testkit.server.TcpProxy.Direction;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TcpProxyTest {

    private static final int PATIENCE_MILLIS = 10_000;
    private static final int SILENCE_MILLIS = 150;

    private final BlockingQueue<Socket> accepted = new LinkedBlockingQueue<>();
    private ServerSocket listener;
    private Thread acceptor;
    private TcpProxy proxy;

    @BeforeEach
    void start() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        acceptor = new Thread(this::acceptAll, "test-server");
        acceptor.setDaemon(true);
        acceptor.start();
        proxy = TcpProxy.to("127.0.0.1", listener.getLocalPort());
    }

    @AfterEach
    void stop() throws IOException {
        proxy.close();
        listener.close();
        eventually(() -> proxy.openConnections() == 0);
        eventually(TcpProxyTest::noThreadIsLeft);
    }

    private void acceptAll() {
        try {
            while (true) {
                accepted.add(listener.accept());
            }
        } catch (IOException closed) {
            // The test has ended.
        }
    }

    @Test
    void bytesPassBothWaysAndAreCounted() throws Exception {
        try (Socket client = connected();
                Socket server = accepted()) {
            send(client, "hello");
            assertThat(read(server, 5)).isEqualTo("hello");
            send(server, "good day");
            assertThat(read(client, 8)).isEqualTo("good day");
        }
        assertThat(proxy.connections()).isEqualTo(1);
        assertThat(proxy.bytes(Direction.TO_SERVER)).isEqualTo(5);
        assertThat(proxy.bytes(Direction.TO_CLIENT)).isEqualTo(8);
    }

    @Test
    void endOfOneSideIsPassedOnAndTheOtherMayGoOn() throws Exception {
        try (Socket client = connected();
                Socket server = accepted()) {
            client.shutdownOutput();
            assertThat(server.getInputStream().read()).isEqualTo(-1);
            send(server, "still here");
            assertThat(read(client, 10)).isEqualTo("still here");
            server.shutdownOutput();
            assertThat(client.getInputStream().read()).isEqualTo(-1);
            eventually(() -> proxy.openConnections() == 0);
        }
    }

    @Test
    void cutResetsBothSides() throws Exception {
        try (Socket client = connected();
                Socket server = accepted()) {
            proxy.cut();
            assertReset(client);
            assertReset(server);
            assertThat(proxy.openConnections()).isZero();
        }
        try (Socket another = connected();
                Socket server = accepted()) {
            send(another, "x");
            assertThat(read(server, 1)).as("new connections are not affected").isEqualTo("x");
        }
    }

    @Test
    void cutAfterSomeBytesPassesExactlyThose() throws Exception {
        try (Socket client = connected();
                Socket server = accepted()) {
            proxy.cutAfter(Direction.TO_SERVER, 3);
            send(client, "abcdef");
            assertThat(read(server, 3)).isEqualTo("abc");
            assertReset(server);
            assertReset(client);
        }
        assertThat(proxy.bytes(Direction.TO_SERVER)).isEqualTo(3);
    }

    @Test
    void cutAfterNothingWaitsForTheNextByteAndHappensOnce() throws Exception {
        try (Socket client = connected();
                Socket server = accepted()) {
            proxy.cutAfter(Direction.TO_CLIENT, 0);
            send(client, "ask");
            assertThat(read(server, 3)).isEqualTo("ask");
            send(server, "answer");
            assertReset(client);
        }
        try (Socket client = connected();
                Socket server = accepted()) {
            send(server, "answer");
            assertThat(read(client, 6)).isEqualTo("answer");
        }
    }

    @Test
    void droppedBytesAreLostAndTheirConnectionStaysSilentForGood() throws Exception {
        try (Socket client = connected();
                Socket server = accepted()) {
            proxy.drop(Direction.TO_SERVER);
            send(client, "lost");
            assertSilent(server);
            proxy.pass();
            send(client, "too late");
            assertSilent(server);
            send(server, "heard");
            assertThat(read(client, 5)).as("the other direction").isEqualTo("heard");
        }
        try (Socket client = connected();
                Socket server = accepted()) {
            send(client, "new");
            assertThat(read(server, 3)).isEqualTo("new");
        }
    }

    @Test
    void droppingHidesTheEndOfTheOtherSide() throws Exception {
        Socket client = connected();
        try (Socket server = accepted()) {
            proxy.drop(Direction.TO_SERVER);
            client.setSoLinger(true, 0);
            client.close();
            assertSilent(server);
        }
    }

    @Test
    void droppingOnOpenConnectionsLeavesNewOnesAlone() throws Exception {
        try (Socket old = connected();
                Socket oldServer = accepted()) {
            proxy.dropOnOpen(Direction.TO_SERVER, Direction.TO_CLIENT);
            send(old, "x");
            assertSilent(oldServer);
            send(oldServer, "y");
            assertSilent(old);
            try (Socket client = connected();
                    Socket server = accepted()) {
                send(client, "new");
                assertThat(read(server, 3)).isEqualTo("new");
            }
        }
    }

    @Test
    void droppingOnOneConnectionLeavesTheOthersAlone() throws Exception {
        try (Socket first = connected();
                Socket firstServer = accepted();
                Socket second = connected();
                Socket secondServer = accepted()) {
            proxy.dropOn(2, Direction.TO_SERVER);
            proxy.dropOn(3, Direction.TO_SERVER);
            send(first, "one");
            assertThat(read(firstServer, 3)).isEqualTo("one");
            send(second, "two");
            assertSilent(secondServer);
        }
    }

    @Test
    void delayedBytesComeLaterAndInOrder() throws Exception {
        try (Socket client = connected();
                Socket server = accepted()) {
            proxy.delay(Direction.TO_SERVER, Duration.ofMillis(200));
            long sent = System.nanoTime();
            send(client, "a");
            send(client, "b");
            assertThat(read(server, 2)).isEqualTo("ab");
            assertThat(Duration.ofNanos(System.nanoTime() - sent)).isGreaterThanOrEqualTo(Duration.ofMillis(200));
            send(server, "c");
            assertThat(read(client, 1)).isEqualTo("c");
        }
    }

    @Test
    void heldBackBytesComeWhenTheyMayPass() throws Exception {
        try (Socket client = connected();
                Socket server = accepted()) {
            proxy.delay(Direction.TO_SERVER, Duration.ofDays(1));
            send(client, "held");
            assertSilent(server);
            proxy.pass(Direction.TO_SERVER);
            assertThat(read(server, 4)).isEqualTo("held");
        }
    }

    @Test
    void newConnectionsAreRefusedAndThenAcceptedAgainAtTheSamePort() throws Exception {
        try (Socket client = connected();
                Socket server = accepted()) {
            proxy.refuse();
            assertThatThrownBy(this::connected).isInstanceOf(ConnectException.class);
            send(client, "open");
            assertThat(read(server, 4)).isEqualTo("open");
            proxy.accept();
            try (Socket another = connected();
                    Socket anotherServer = accepted()) {
                send(another, "new");
                assertThat(read(anotherServer, 3)).isEqualTo("new");
            }
        }
    }

    @Test
    void clientOfAnUnreachableServerIsReset() throws Exception {
        listener.close();
        acceptor.join(PATIENCE_MILLIS); // the system listens until that thread has left its call
        try (Socket client = connected()) {
            assertReset(client);
        }
        eventually(() -> proxy.openConnections() == 0);
    }

    @Test
    void closedProxyEndsWithItsConnections() throws Exception {
        try (Socket client = connected();
                Socket server = accepted()) {
            proxy.close();
            proxy.close();
            assertReset(client);
            assertReset(server);
            proxy.accept();
            assertThatThrownBy(this::connected).isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void manyConnectionsAtOnceEachHaveTheirOwnBytes() throws Exception {
        int many = 20;
        Socket[] clients = new Socket[many];
        byte[] block = new byte[100_000];
        for (int i = 0; i < many; i++) {
            clients[i] = connected();
            clients[i].getOutputStream().write(i);
        }
        for (int i = 0; i < many; i++) {
            Socket server = accepted();
            int who = server.getInputStream().read();
            server.getOutputStream().write(block);
            assertThat(clients[who].getInputStream().readNBytes(block.length)).isEqualTo(block);
            clients[who].close();
            server.close();
        }
        assertThat(proxy.connections()).isEqualTo(many);
    }

    private Socket connected() throws IOException {
        Socket client = new Socket(proxy.host(), proxy.port());
        client.setSoTimeout(PATIENCE_MILLIS);
        return client;
    }

    private Socket accepted() throws InterruptedException, IOException {
        Socket server = accepted.poll(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        assertThat(server).as("a connection at the server").isNotNull();
        server.setSoTimeout(PATIENCE_MILLIS);
        return server;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String read(Socket socket, int bytes) throws IOException {
        InputStream in = socket.getInputStream();
        return new String(in.readNBytes(bytes), StandardCharsets.US_ASCII);
    }

    private static void assertReset(Socket socket) {
        assertThatThrownBy(() -> {
                    int end = socket.getInputStream().read();
                    assertThat(end).as("no orderly end").isNotEqualTo(-1);
                })
                .isInstanceOf(SocketException.class);
    }

    private static void assertSilent(Socket socket) throws IOException {
        socket.setSoTimeout(SILENCE_MILLIS);
        assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
        socket.setSoTimeout(PATIENCE_MILLIS);
    }

    private static void eventually(BooleanSupplier condition) {
        PlainQuestion.await("the end of all connections and threads", condition);
    }

    private static boolean noThreadIsLeft() {
        return Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("tcp-proxy-"));
    }
}
