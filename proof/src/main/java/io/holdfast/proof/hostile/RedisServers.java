package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

/**
 * One Redis, or the five masters of a Redlock. They keep their data in an append-only file, which Redis writes before it answers. They do not sync it to
 * the disk, since faults kill the process, not the machine.
 */
final class RedisServers implements Deployment {

    private static final int REDLOCK = 5;
    private static final int MAJORITY = 3;

    private final Terms terms;
    private final List<RedisServer> servers = new ArrayList<>();
    private final List<Path> folders = new ArrayList<>();
    private final List<Gap> gaps = new CopyOnWriteArrayList<>();
    private final ServerClocks clocks;
    private final RedisUsers users;
    private final Tenant tenant = new Tenant(() -> servers);
    private final Crowd crowd;
    private final Wires wires;

    private RedisServers(Terms terms, int count, int clients, Path folder) {
        this.terms = terms;
        clocks = new ServerClocks(terms.lease());
        LocalServers.choose();
        try {
            users = RedisUsers.in(folder);
            for (int i = 0; i < count; i++) {
                folders.add(Files.createDirectories(folder.resolve("redis-" + i)));
                servers.add(start(folder, i));
            }
            crowd = new Crowd(terms, servers.get(0), users);
            wires = new Wires(clients, servers.stream().map(RedisServer::port).toList());
        } catch (IOException e) {
            servers.forEach(RedisServer::close);
            throw new UncheckedIOException("no folders for the servers", e);
        } catch (RuntimeException e) {
            servers.forEach(RedisServer::close);
            throw e;
        }
    }

    static Deployment one(Terms terms, int clients, Path folder) {
        return new RedisServers(terms, 1, clients, folder);
    }

    static Deployment five(Terms terms, int clients, Path folder) {
        return new RedisServers(terms, REDLOCK, clients, folder);
    }

    private RedisServer start(Path folder, int number) {
        List<String> arguments = new ArrayList<>(List.of(
                "--appendonly",
                "yes",
                "--appendfsync",
                "no",
                "--dir",
                folders.get(number).toString()));
        arguments.addAll(users.arguments());
        RedisServer.Builder builder = RedisServer.builder().args(arguments.toArray(new String[0]));
        Optional<ServerClock> clock = ServerClock.in(folder, "redis-" + number);
        clock.ifPresent(clocks::add);
        return builder.environment(clock.map(ServerClock::environment).orElse(Map.of()))
                .start();
    }

    @Override
    public Address addressOf(int client) {
        return addressAt(wires.ports(client));
    }

    @Override
    public Address direct() {
        return addressAt(servers.stream().map(RedisServer::port).toList());
    }

    private Address addressAt(List<Integer> ports) {
        return new Address(
                terms, ports.stream().map(port -> "redis://127.0.0.1:" + port).toList(), users.secret());
    }

    @Override
    public Map<FaultKind, Strike.Fault> faults() {
        Map<FaultKind, Strike.Fault> faults = new LinkedHashMap<>(wires.faults());
        faults.putAll(new RedisOperator(() -> servers, users).faults());
        faults.put(FaultKind.TENANT_PUBLISHES, tenant::publish);
        faults.put(FaultKind.SERVER_KILLED, strike -> restart(strike, List.of(strike.choice() % servers.size())));
        faults.put(FaultKind.SERVER_EMPTIED, strike -> empty(strike, 1));
        faults.put(FaultKind.SERVER_FROZEN, this::freeze);
        faults.put(FaultKind.SERVER_PAUSED, this::pause);
        clocks.faults().forEach((kind, fault) -> faults.put(kind, strike -> fault.inject(servers, strike)));
        faults.put(FaultKind.MASTER_DEMOTED, strike -> Demotion.ofNoUse(strike.oneOf(servers), strike));
        if (terms.target() == Target.REDIS) {
            faults.put(FaultKind.MASTER_OVERWRITTEN, this::overwrite);
            faults.put(FaultKind.CROWD_CUT_OFF, crowd::cutOff);
        }
        if (terms.target() == Target.REDLOCK) {
            faults.put(FaultKind.MAJORITY_EMPTIED, strike -> empty(strike, MAJORITY));
        }
        return faults;
    }

    private void restart(Strike strike, List<Integer> which) throws InterruptedException {
        which.forEach(i -> servers.get(i).stop());
        try {
            strike.last();
        } finally {
            // All at the same time: one after the other, a lease may be over before a majority is back.
            which.parallelStream().forEach(i -> servers.get(i).restart());
        }
    }

    /** A Redlock promises exclusion all the same: a master that lost its data does not vote until the longest lease is over. */
    private void empty(Strike strike, int count) throws InterruptedException {
        clocks.awaitLossAllowed();
        long fromNanos = System.nanoTime();
        List<Integer> which = Stream.iterate(strike.choice() % servers.size(), i -> (i + 1) % servers.size())
                .limit(count)
                .toList();
        which.forEach(i -> {
            servers.get(i).stop();
            clear(folders.get(i));
        });
        restart(strike, which);
        clocks.lost();
        if (terms.target() == Target.REDIS) {
            gaps.add(new Gap(fromNanos, System.nanoTime()));
        }
    }

    private void overwrite(Strike strike) throws InterruptedException {
        clocks.awaitLossAllowed();
        long fromNanos = System.nanoTime();
        Demotion.toACopy(servers.get(0), strike);
        clocks.lost();
        gaps.add(new Gap(fromNanos, System.nanoTime()));
    }

    private static void clear(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder())
                    .filter(it -> !it.equals(folder))
                    .toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete the data of a server", e);
        }
    }

    private void freeze(Strike strike) throws InterruptedException {
        RedisServer server = strike.oneOf(servers);
        server.pause();
        try {
            strike.last();
        } finally {
            server.resume();
        }
    }

    private void pause(Strike strike) throws InterruptedException {
        boolean unused = Orders.attempt(
                strike.oneOf(servers), redis -> redis.clientPause(strike.time().toMillis()));
        strike.last();
    }

    @Override
    public List<Gap> gaps() {
        return Gap.merged(gaps, clocks.gaps());
    }

    @Override
    public List<String> leftOut() {
        return clocks.faults().isEmpty() ? List.of(ServerClock.MISSING) : List.of();
    }

    @Override
    public Map<String, Long> counts() {
        Map<String, Long> counts = new LinkedHashMap<>(tenant.counts());
        if (terms.target() == Target.REDIS) {
            counts.putAll(crowd.counts());
        }
        return counts;
    }

    @Override
    public List<String> complaints() {
        return crowd.complaints();
    }

    @Override
    public List<String> leftovers() {
        return servers.stream()
                .flatMap(server -> RedisStore.leftovers(server.port()).stream())
                .toList();
    }

    @Override
    public void close() {
        wires.close();
        servers.forEach(RedisServer::close);
    }
}
