package io.holdfast.testkit.server;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** One command and its answer over a new socket: the test kit has no driver. */
final class PlainQuestion {

    private static final int LIMIT_MILLIS = 5_000;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private PlainQuestion() {}

    /**
     * Sends a command to a server.
     *
     * @return the answer as text, nested parts separated by line ends
     * @throws IllegalStateException if the server refused the command
     */
    static String ask(RedisServer server, List<String> words) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(server.host(), server.port()), LIMIT_MILLIS);
            socket.setSoTimeout(LIMIT_MILLIS);
            socket.getOutputStream().write(encoded(words));
            StringBuilder answer = new StringBuilder();
            read(new DataInputStream(new BufferedInputStream(socket.getInputStream())), answer);
            return answer.toString();
        } catch (IOException e) {
            throw new UncheckedIOException("%s did not answer to %s".formatted(server, words.get(0)), e);
        }
    }

    /** Repeats a check until it holds, since no signal says when it does. */
    static void await(String what, BooleanSupplier condition) {
        await(PATIENCE, what, condition);
    }

    static void await(Duration limit, String what, BooleanSupplier condition) {
        long startNanos = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNanos > limit.toNanos()) {
                throw new IllegalStateException("not within %s: %s".formatted(limit, what));
            }
            try {
                TimeUnit.MILLISECONDS.sleep(20);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while waiting: " + what, e);
            }
        }
    }

    private static byte[] encoded(List<String> words) {
        StringBuilder text = new StringBuilder("*").append(words.size()).append("\r\n");
        for (String word : words) {
            text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
        }
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private static void read(DataInputStream in, StringBuilder answer) throws IOException {
        String line = line(in);
        String rest = line.substring(1);
        switch (line.charAt(0)) {
            case '-' -> throw new IllegalStateException("Redis refused: " + rest);
            case '$' -> {
                int length = Integer.parseInt(rest);
                if (length >= 0) {
                    byte[] text = in.readNBytes(length + 2);
                    answer.append(new String(text, 0, length, StandardCharsets.UTF_8))
                            .append('\n');
                }
            }
            case '*' -> {
                for (int i = Integer.parseInt(rest); i > 0; i--) {
                    read(in, answer);
                }
            }
            default -> answer.append(rest).append('\n');
        }
    }

    private static String line(DataInputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int c = in.readUnsignedByte(); c != '\n'; c = in.readUnsignedByte()) {
            if (c != '\r') {
                line.write(c);
            }
        }
        return line.toString(StandardCharsets.UTF_8);
    }
}
