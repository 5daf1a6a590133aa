package io.holdfast.examples.flashsale;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A shop as the coordinator sees it: a child process with the same Java and the same class path. */
final class ShopProcess implements AutoCloseable {

    private final String name;
    private final Process process;

    /** Written by the coordinator's thread. */
    private boolean isKilled;

    private ShopProcess(String name, Process process) {
        this.name = name;
        this.process = process;
    }

    /**
     * Starts a shop.
     *
     * @param lines receives each line that the shop writes, on a thread of its own
     */
    static ShopProcess start(ShopOrder order, String redisUri, LockAddress lock, Consumer<ShopLine> lines) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Shop.class.getName()));
        command.addAll(order.toArguments());
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put(ShopOrder.REDIS_URI, redisUri);
        builder.environment().put(ShopOrder.LOCK, lock.toText());
        try {
            ShopProcess shop = new ShopProcess(order.shop(), builder.start());
            shop.readInto(lines);
            return shop;
        } catch (IOException e) {
            throw new UncheckedIOException("shop " + order.shop() + " cannot be started", e);
        }
    }

    private void readInto(Consumer<ShopLine> lines) {
        Thread reader = new Thread(() -> read(lines), "shop-" + name);
        reader.setDaemon(true);
        reader.start();
    }

    private void read(Consumer<ShopLine> lines) {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                lines.accept(new ShopLine(this, line));
            }
        } catch (IOException streamClosed) {
            // The pipe of a killed process may fail. The process has ended in either case.
        }
        lines.accept(new ShopLine(this, ShopLine.ENDED));
    }

    String name() {
        return name;
    }

    boolean isKilled() {
        return isKilled;
    }

    void open() {
        try {
            Writer orders = process.outputWriter(StandardCharsets.UTF_8);
            orders.write(ShopLine.OPEN + "\n");
            orders.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("shop " + name + " does not listen", e);
        }
    }

    /** Kills the shop, by SIGKILL where there are signals: it cannot release anything. Returns when the process has ended. */
    void kill() {
        isKilled = true;
        process.destroyForcibly();
        process.onExit().join();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
