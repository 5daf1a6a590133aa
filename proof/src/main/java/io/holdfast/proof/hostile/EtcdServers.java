package io.holdfast.proof.hostile;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Response;
import io.etcd.jetcd.lease.LeaseRevokeResponse;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.LeaseOption;
import io.holdfast.testkit.server.EtcdServer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Three members of etcd, each a process. Exclusion is promised under any fault of one member at a time, as long as the members keep their data. An
 * operator who revokes a lease takes locks away from their holders.
 */
final class EtcdServers implements Deployment {

    private static final Duration STARTS_WITHIN = Duration.ofMinutes(2);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);
    private static final long ANSWER_SECONDS = 2;
    private static final ByteSequence PREFIX = ByteSequence.from("holdfast/", UTF_8);

    private final Terms terms;
    private final List<EtcdServer> members;
    private final Wires wires;
    private final Client operator;
    private final ConcurrentLinkedQueue<Gap> gaps = new ConcurrentLinkedQueue<>();

    private EtcdServers(Terms terms, int clients) {
        this.terms = terms;
        members = EtcdServer.startThree();
        wires = new Wires(clients, members.stream().map(EtcdServer::port).toList());
        operator = Client.builder()
                .endpoints(members.stream().map(EtcdServer::endpoint).toArray(String[]::new))
                .build();
    }

    static Deployment start(Terms terms, int clients) {
        if (!EtcdServer.isHere()) {
            throw new IllegalStateException("there is no etcd on the PATH; Debian has it in the package etcd-server");
        }
        return new EtcdServers(terms, clients);
    }

    @Override
    public Address addressOf(int client) {
        return addressAt(wires.ports(client));
    }

    @Override
    public Address direct() {
        return addressAt(members.stream().map(EtcdServer::port).toList());
    }

    private Address addressAt(List<Integer> ports) {
        return new Address(
                terms, ports.stream().map(port -> "http://127.0.0.1:" + port).toList());
    }

    @Override
    public Map<FaultKind, Strike.Fault> faults() {
        Map<FaultKind, Strike.Fault> faults = new LinkedHashMap<>(wires.faults());
        faults.put(FaultKind.LEADER_KILLED, strike -> kill(strike, leader()));
        faults.put(FaultKind.LEADER_FROZEN, strike -> freeze(strike, leader()));
        faults.put(FaultKind.FOLLOWER_KILLED, strike -> kill(strike, strike.oneOf(followers())));
        faults.put(FaultKind.FOLLOWER_FROZEN, strike -> freeze(strike, strike.oneOf(followers())));
        if (SlowDisk.isHere()) {
            faults.put(FaultKind.DISK_SLOW, strike -> SlowDisk.of(leader().pid(), strike));
        }
        faults.put(FaultKind.COMPACTED, strike -> compact());
        faults.put(FaultKind.LEASE_REVOKED, this::revoke);
        return faults;
    }

    private void kill(Strike strike, EtcdServer member) throws InterruptedException {
        member.stop();
        try {
            strike.last();
        } finally {
            member.restart();
        }
        EtcdServer unused = leader();
    }

    private void freeze(Strike strike, EtcdServer member) throws InterruptedException {
        member.pause();
        try {
            strike.last();
        } finally {
            member.resume();
        }
        EtcdServer unused = leader();
    }

    private void compact() throws InterruptedException {
        ask(() -> operator.getKVClient().get(PREFIX))
                .map(Response::getHeader)
                .map(Response.Header::getRevision)
                .ifPresent(revision -> {
                    CompletableFuture<?> unused = operator.getKVClient().compact(revision);
                });
    }

    /** Revokes the lease of a claim that holds or waits. */
    private void revoke(Strike strike) throws InterruptedException {
        List<Long> leases = ask(() -> operator.getKVClient().get(lines(), allKeys())).stream()
                .flatMap(it -> it.getKvs().stream())
                .map(it -> it.getLease())
                .filter(it -> it != 0)
                .distinct()
                .toList();
        if (!leases.isEmpty()) {
            long lease = strike.oneOf(leases);
            long fromNanos = System.nanoTime();
            CompletableFuture<LeaseRevokeResponse> revoked =
                    operator.getLeaseClient().revoke(lease);
            // Without an answer, it may be revoked at any time until etcd gives the request up.
            boolean isDone = ask(() -> revoked).isPresent()
                    || ask(() -> operator.getLeaseClient().timeToLive(lease, LeaseOption.DEFAULT))
                            .filter(it -> it.getTTL() < 0)
                            .isPresent();
            gaps.add(new Gap(fromNanos, System.nanoTime() + (isDone ? 0 : STARTS_WITHIN.toNanos() / 6)));
        }
    }

    private static ByteSequence lines() {
        return ByteSequence.from("holdfast/line/", UTF_8);
    }

    private static GetOption allKeys() {
        return GetOption.builder().isPrefix(true).withKeysOnly(true).build();
    }

    private interface Question<T> {
        CompletableFuture<T> put();
    }

    /** Returns the answer; empty if there was none in time. */
    private static <T> Optional<T> ask(Question<T> question) throws InterruptedException {
        try {
            return Optional.ofNullable(question.put().get(ANSWER_SECONDS, TimeUnit.SECONDS));
        } catch (ExecutionException | TimeoutException noAnswer) {
            return Optional.empty();
        }
    }

    private EtcdServer leader() throws InterruptedException {
        return Await.some("there is a leader", STARTS_WITHIN, POLL_INTERVAL, this::leaderNow);
    }

    private Optional<EtcdServer> leaderNow() {
        return members.stream().filter(this::leads).findFirst();
    }

    private boolean leads(EtcdServer member) {
        try {
            return ask(() -> operator.getMaintenanceClient().statusMember(member.endpoint()))
                    .filter(it -> it.getLeader() == it.getHeader().getMemberId())
                    .isPresent();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private List<EtcdServer> followers() throws InterruptedException {
        EtcdServer leader = leader();
        return members.stream().filter(it -> it != leader).toList();
    }

    @Override
    public List<String> leftOut() {
        return SlowDisk.isHere()
                ? List.of()
                : List.of("a slow disk: there is no strace on the PATH, which Debian has in the package strace");
    }

    @Override
    public List<Gap> gaps() {
        return List.copyOf(gaps);
    }

    /** Tombstones and notices end with their leases. */
    @Override
    public List<String> leftovers() {
        try {
            return Await.some("the keys are read", STARTS_WITHIN, POLL_INTERVAL, this::placesNow);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the keys were read", e);
        }
    }

    private Optional<List<String>> placesNow() {
        try {
            return ask(() -> operator.getKVClient().get(PREFIX, allKeys()))
                    .map(it -> it.getKvs().stream()
                            .map(kv -> kv.getKey().toString(UTF_8))
                            .filter(key -> !key.startsWith("holdfast/gone/") && !key.startsWith("holdfast/lost/"))
                            .toList());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        wires.close();
        operator.close();
        members.forEach(EtcdServer::close);
    }
}
