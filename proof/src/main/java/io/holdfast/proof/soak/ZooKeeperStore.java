package io.holdfast.proof.soak;

import io.holdfast.proof.hostile.Await;
import io.holdfast.proof.hostile.ZooKeeperProcess;
import io.holdfast.testkit.server.FreePorts;
import io.holdfast.testkit.server.TcpProxy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** An ensemble of three servers. */
final class ZooKeeperStore implements Store {

    private static final int SERVERS = 3;
    private static final Duration STARTS_WITHIN = Duration.ofMinutes(4);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

    private final List<ZooKeeperProcess> servers = new ArrayList<>();
    private final List<TcpProxy> proxies = new ArrayList<>();

    private ZooKeeperStore() {}

    static Store start(Path folder) throws InterruptedException {
        ZooKeeperStore store = new ZooKeeperStore();
        try {
            store.begin(folder);
            return store;
        } catch (IOException e) {
            store.close();
            throw new UncheckedIOException("no folders for the servers", e);
        } catch (InterruptedException | RuntimeException e) {
            store.close();
            throw e;
        }
    }

    private void begin(Path folder) throws IOException, InterruptedException {
        String members = IntStream.rangeClosed(1, SERVERS)
                .mapToObj(id -> "server.%d=127.0.0.1:%d:%d".formatted(id, FreePorts.next(), FreePorts.next()))
                .collect(Collectors.joining("\n"));
        for (int id = 1; id <= SERVERS; id++) {
            servers.add(new ZooKeeperProcess(id, members, folder.resolve("zookeeper-" + id)));
        }
        servers.forEach(ZooKeeperProcess::start);
        Await.until(
                "all servers serve",
                STARTS_WITHIN,
                POLL_INTERVAL,
                () -> servers.stream().allMatch(ZooKeeperProcess::servesAgain));
        servers.forEach(server -> proxies.add(TcpProxy.to("127.0.0.1", server.port())));
    }

    @Override
    public List<String> addresses() {
        return proxies.stream().map(proxy -> "127.0.0.1:" + proxy.port()).toList();
    }

    /** The servers delete the empty containers of locks by themselves, after some seconds. */
    @Override
    public void tidy() {}

    /** All servers have the same data. Each has its own watches and connections. */
    @Override
    public Reading read() {
        List<String> answers =
                servers.stream().map(server -> server.ask("mntr")).toList();
        return new Reading(
                figure(answers.get(0), "zk_znode_count"),
                figure(answers.get(0), "zk_approximate_data_size"),
                answers.stream()
                                .mapToLong(answer -> figure(answer, "zk_num_alive_connections"))
                                .sum()
                        - SERVERS);
    }

    private static long figure(String answer, String name) {
        return answer.lines()
                .filter(line -> line.startsWith(name + "\t"))
                .mapToLong(
                        line -> Long.parseLong(line.substring(name.length() + 1).trim()))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no %s in the answer of a server".formatted(name)));
    }

    @Override
    public void cut() {
        proxies.forEach(TcpProxy::cut);
    }

    @Override
    public void close() {
        proxies.forEach(TcpProxy::close);
        servers.forEach(ZooKeeperProcess::close);
    }
}
