package io.holdfast.redis;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A server with scripted answers to each command: a server that is too old, or that is not Redis at all. One thread per
 * connection.
 */
public final class FakeServer implements AutoCloseable {

    private final ServerSocket listener;
    private final Function<String, @Nullable String> answers;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();

    private FakeServer(Function<String, @Nullable String> answers) throws IOException {
        this.answers = answers;
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    /** Makes a server that answers a command by its name in lower case; null answers nothing. */
    public static FakeServer answering(Function<String, @Nullable String> answers) {
        try {
            return new FakeServer(answers);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public int port() {
        return listener.getLocalPort();
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "fake-server");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listener.accept();
                sockets.add(socket);
                start(() -> serve(socket));
            }
        } catch (IOException closed) {
            // The test is over.
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            for (String name = command(in); name != null; name = command(in)) {
                String answer = answers.apply(name);
                if (answer != null) {
                    socket.getOutputStream().write((answer + "\r\n").getBytes(StandardCharsets.UTF_8));
                    socket.getOutputStream().flush();
                }
            }
        } catch (IOException closed) {
            // The client has gone.
        }
    }

    private static @Nullable String command(BufferedReader in) throws IOException {
        String header = in.readLine();
        if (header == null) {
            return null;
        }
        int parts = Integer.parseInt(header.substring(1));
        List<String> words = new ArrayList<>();
        for (int i = 0; i < parts; i++) {
            int length = Integer.parseInt(in.readLine().substring(1));
            char[] word = new char[length];
            for (int read = 0; read < length; ) {
                read += in.read(word, read, length - read);
            }
            String end = in.readLine();
            words.add(new String(word) + end);
        }
        return words.get(0).toLowerCase(Locale.ROOT);
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
