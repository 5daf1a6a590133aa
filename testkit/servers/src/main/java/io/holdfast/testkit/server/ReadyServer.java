package io.holdfast.testkit.server;

import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Checks whether a database server takes connections, by the first bytes of its protocol. */
final class ReadyServer {

    /** The version of the protocol of MariaDB and MySQL, in the first message of the server. */
    private static final int GREETING = 10;

    private static final int GREETING_AT = 4;

    /** Version 3.0 of the protocol of PostgreSQL. */
    private static final int START_UP = 196_608;

    private ReadyServer() {}

    /** Returns whether MariaDB or MySQL greets a client. */
    static boolean greets(String host, int port, Duration limit) {
        try (Socket socket = connected(host, port, limit)) {
            byte[] greeting = socket.getInputStream().readNBytes(GREETING_AT + 1);
            return greeting.length > GREETING_AT && greeting[GREETING_AT] == GREETING;
        } catch (IOException notYet) {
            return false;
        }
    }

    /**
     * Returns whether PostgreSQL accepts a client that sends its name. While the server starts, the answer is an error.
     */
    static boolean welcomes(String user, String host, int port, Duration limit) {
        try (Socket socket = connected(host, port, limit)) {
            byte[] names = "user\0%s\0database\0%s\0\0".formatted(user, user).getBytes(StandardCharsets.US_ASCII);
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            out.writeInt(Integer.BYTES * 2 + names.length);
            out.writeInt(START_UP);
            out.write(names);
            out.flush();
            return socket.getInputStream().read() == 'R';
        } catch (IOException notYet) {
            return false;
        }
    }

    private static Socket connected(String host, int port, Duration limit) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(host, port), (int) limit.toMillis());
            socket.setSoTimeout((int) limit.toMillis());
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }
}
