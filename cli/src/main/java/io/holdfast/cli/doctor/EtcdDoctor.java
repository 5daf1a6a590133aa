package io.holdfast.cli.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.cluster.Member;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.maintenance.StatusResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.grpc.Status;
import io.holdfast.etcd.EtcdLockBackend;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Checks etcd, as far as a client without the root role may ask. */
public final class EtcdDoctor implements Doctor {

    /** In seconds. What a back end asks for by default, and what the check asks for. */
    private static final int PRESENCE = 6;

    private static final int SHORT_LEASE = 2;

    /** Renewals read so many places in one transaction. */
    private static final int BATCH = 100;

    private static final long MOST_REVISIONS = 1_000_000;

    /** In bytes, four fifths of the default quota. */
    private static final long MOST_STORED = 1_700_000_000;

    private final Client client;
    private final List<String> addresses;
    private final String prefix;
    private final boolean hasUser;
    private final Questions server;
    private final String name = "doctor-" + UUID.randomUUID();
    private final List<StatusResponse> members = new CopyOnWriteArrayList<>();
    private final List<Long> leases = new CopyOnWriteArrayList<>();

    /**
     * Connects with the first check.
     *
     * @param client closed with the doctor
     * @param addresses the same as those of the client, such as {@code http://host:2379}
     * @param prefix where the keys of the locks are
     * @param hasUser whether the client has a user and a password
     * @param patience the longest time for the answers of one check; some may take a multiple of it
     */
    public EtcdDoctor(Client client, List<String> addresses, String prefix, boolean hasUser, Duration patience) {
        this.client = client;
        this.addresses = addresses;
        this.prefix = prefix;
        this.hasUser = hasUser;
        server = new Questions("etcd", patience);
    }

    @Override
    public Flux<Finding> examine() {
        return server.ask("connection", 2, connection())
                .concatWith(Flux.defer(() -> members.isEmpty() ? Flux.empty() : cluster()));
    }

    private Mono<Answer> connection() {
        List<String> refusals = new CopyOnWriteArrayList<>();
        return Flux.fromIterable(addresses)
                .flatMap(it -> Mono.fromFuture(
                                () -> client.getMaintenanceClient().statusMember(it))
                        .timeout(server.patience())
                        .doOnNext(members::add)
                        .onErrorResume(error -> {
                            refusals.add(it + ": " + Questions.text(error));
                            return Mono.empty();
                        }))
                .then(Mono.fromSupplier(() -> Answer.is(
                        !members.isEmpty(),
                        "%d of %d addresses answer%s"
                                .formatted(
                                        members.size(),
                                        addresses.size(),
                                        refusals.isEmpty() ? "" : "; " + String.join(", ", refusals)))));
    }

    /** Without a leader, each further request would only wait. */
    private Flux<Finding> cluster() {
        long clusters = members.stream()
                .map(it -> it.getHeader().getClusterId())
                .distinct()
                .count();
        boolean hasLeader = members.stream().anyMatch(it -> it.getLeader() != 0);
        Finding found = server.finding(
                "cluster",
                Answer.is(
                        clusters == 1 && hasLeader,
                        clusters == 1
                                ? hasLeader ? "it has a leader" : "it has no leader"
                                : "the addresses are of %d clusters".formatted(clusters)));
        return hasLeader ? checks().startWith(found) : Flux.just(found);
    }

    private Flux<Finding> checks() {
        return Flux.concat(
                server.ask("version", Mono.fromSupplier(this::version)),
                server.ask("members", voters()),
                server.ask("alarms", alarms()),
                server.ask("space", Mono.fromSupplier(this::space)),
                server.ask("revisions", revisions()),
                server.ask("rights", Mono.fromSupplier(this::rights)),
                server.ask("leases", shortLease()),
                server.ask("keys", 2, keys()),
                server.ask("batch", batch()),
                server.ask("latency", 2, Questions.latency(Mono.fromFuture(() -> kv().get(key())))),
                server.ask("lock", LockCycle.TIMES, LockCycle.run(this::backend, name, server.patience())));
    }

    private LockBackend backend() {
        return EtcdLockBackend.builder(client).keyPrefix(prefix).build();
    }

    private KV kv() {
        return client.getKVClient();
    }

    private ByteSequence key() {
        return ByteSequence.from((prefix.endsWith("/") ? prefix : prefix + '/') + name, UTF_8);
    }

    private Answer version() {
        List<String> versions = members.stream()
                .map(StatusResponse::getVersion)
                .distinct()
                .sorted()
                .toList();
        return Answer.is(
                versions.stream().noneMatch(it -> it.matches("[0-2]\\..*|3\\.[0-3]\\..*")),
                String.join(", ", versions));
    }

    private Mono<Answer> voters() {
        return Mono.fromFuture(() -> client.getClusterClient().listMember()).map(answer -> {
            long learners =
                    answer.getMembers().stream().filter(Member::isLearner).count();
            long voters = answer.getMembers().size() - learners;
            return Answer.is(voters >= 3, "%d that vote, %d learners".formatted(voters, learners));
        });
    }

    private Mono<Answer> alarms() {
        return Mono.fromFuture(() -> client.getMaintenanceClient().listAlarms())
                .map(answer -> answer.getAlarms().isEmpty()
                        ? Answer.works("none")
                        : Answer.fails(answer.getAlarms().stream()
                                .map(it -> "%s at member %x".formatted(it.getAlarmType(), it.getMemberId()))
                                .collect(Collectors.joining(", "))));
    }

    private Answer space() {
        long most = members.stream().mapToLong(StatusResponse::getDbSize).max().orElse(0);
        long used =
                members.stream().mapToLong(StatusResponse::getDbSizeInUse).max().orElse(0);
        return Answer.is(most < MOST_STORED, "%,d KB, of which %,d KB are in use".formatted(most / 1000, used / 1000));
    }

    /** Reads an old revision. etcd tells no client its settings. */
    private Mono<Answer> revisions() {
        return Mono.fromFuture(() -> kv().get(key())).flatMap(now -> {
            long revision = now.getHeader().getRevision();
            long old = Math.max(1, revision - MOST_REVISIONS);
            GetOption then = GetOption.builder().withRevision(old).build();
            return Mono.fromFuture(() -> kv().get(key(), then))
                    .map(answer -> old == 1
                            ? Answer.unknown("%,d revisions, none of them compacted".formatted(revision))
                            : Answer.fails("more than %,d revisions".formatted(MOST_REVISIONS)))
                    .onErrorResume(
                            error -> Status.fromThrowable(error).getCode() == Status.Code.OUT_OF_RANGE
                                    || Questions.text(error).contains("compacted"),
                            compacted -> Mono.just(Answer.works("old revisions are compacted")));
        });
    }

    private Answer rights() {
        return Answer.is(
                hasUser, hasUser ? "they need a user and a password" : "any client that connects may change the locks");
    }

    private Mono<Long> lease(long seconds) {
        return Mono.fromFuture(() -> client.getLeaseClient().grant(seconds)).map(granted -> {
            leases.add(granted.getID());
            return granted.getTTL();
        });
    }

    private Mono<Answer> shortLease() {
        return lease(SHORT_LEASE)
                .map(seconds -> Answer.is(seconds <= PRESENCE, "the shortest is %d s".formatted(seconds)));
    }

    private Mono<Answer> keys() {
        Cmp isNew = new Cmp(key(), Cmp.Op.EQUAL, CmpTarget.createRevision(0));
        return lease(60)
                .flatMap(seconds -> {
                    PutOption onLease = PutOption.builder()
                            .withLeaseId(leases.get(leases.size() - 1))
                            .build();
                    return Mono.fromFuture(() -> kv().txn()
                            .If(isNew)
                            .Then(Op.put(key(), ByteSequence.EMPTY, onLease))
                            .commit());
                })
                .flatMap(written -> Mono.fromFuture(() -> kv().get(key())))
                .flatMap(read -> Mono.fromFuture(() -> kv().txn()
                                .Then(Op.delete(key(), DeleteOption.DEFAULT))
                                .commit())
                        .map(deleted -> Answer.is(read.getCount() == 1, "written, read and removed")));
    }

    private Mono<Answer> batch() {
        Op[] reads =
                Collections.nCopies(BATCH, Op.get(key(), GetOption.DEFAULT)).toArray(Op[]::new);
        return Mono.fromFuture(() -> kv().txn().Then(reads).commit())
                .map(TxnResponse::isSucceeded)
                .map(done -> Answer.is(done, "%d operations".formatted(BATCH)));
    }

    /** Removes the key of the checks, and ends their leases. */
    @Override
    public Mono<Void> close() {
        Mono<Void> clean = Flux.defer(() -> Flux.fromIterable(leases))
                .flatMap(it -> Mono.fromFuture(() -> client.getLeaseClient().revoke(it))
                        .timeout(Duration.ofSeconds(2))
                        .onErrorComplete())
                .then();
        return clean.then(Mono.fromRunnable(client::close));
    }
}
