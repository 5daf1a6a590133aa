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

    /** The answer to HELLO of a server that speaks RESP3. */
    public static final String HELLO = "%4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n"
            + "$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:1";

    private final ServerSocket listener;
    private final Function<String, @Nullable String> answers;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();

    private FakeServer(Function<String, @Nullable String> answers) throws IOException {
        this.answers = answers;
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    /**
     * Makes a server that answers a command by its name in lower case; null answers nothing. It confirms a subscription by
     * itself, unless the answer is null, and the loading of a script.
     */
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
            for (List<String> words = command(in); !words.isEmpty(); words = command(in)) {
                String name = words.get(0).toLowerCase(Locale.ROOT);
                String answer = name.equals("script") ? "+loaded" : answers.apply(name);
                if (answer != null) {
                    String text = name.equals("subscribe") ? confirmed(words) : answer;
                    socket.getOutputStream().write((text + "\r\n").getBytes(StandardCharsets.UTF_8));
                    socket.getOutputStream().flush();
                }
            }
        } catch (IOException closed) {
            // The client has gone.
        }
    }

    private static String confirmed(List<String> subscribe) {
        StringBuilder pushes = new StringBuilder();
        for (int i = 1; i < subscribe.size(); i++) {
            String channel = subscribe.get(i);
            pushes.append(i == 1 ? "" : "\r\n")
                    .append(">3\r\n$9\r\nsubscribe\r\n$%d\r\n%s\r\n:%d".formatted(channel.length(), channel, i));
        }
        return pushes.toString();
    }

    /** Returns nothing at the end. */
    private static List<String> command(BufferedReader in) throws IOException {
        String header = in.readLine();
        if (header == null) {
            return List.of();
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
        return words;
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
