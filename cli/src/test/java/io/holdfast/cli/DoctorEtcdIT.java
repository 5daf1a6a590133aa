package io.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.etcd.jetcd.Auth;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.auth.Permission;
import io.etcd.jetcd.options.GetOption;
import io.holdfast.testkit.server.EtcdServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Each check of the doctor, on an etcd that is fit and on one that is made to fail it. */
@Execution(ExecutionMode.CONCURRENT)
class DoctorEtcdIT {

    private static final Map<String, String> NO_ENVIRONMENT = Map.of();

    @BeforeAll
    static void needsEtcd() {
        assumeTrue(EtcdServer.isHere(), "no etcd on the PATH");
    }

    private static String address(EtcdServer... members) {
        return List.of(members).stream()
                .map(it -> "127.0.0.1:" + it.port())
                .collect(Collectors.joining(",", "etcd://", ""));
    }

    private static Client client(EtcdServer server) {
        return Client.builder().endpoints(server.endpoint()).build();
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, UTF_8);
    }

    private static <T> T answer(Future<T> asked) throws Exception {
        return asked.get(30, TimeUnit.SECONDS);
    }

    @Test
    void fitServerWorksAndKeepsNothing() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                Client eye = client(server)) {
            Examined fit = Examined.at(address(server), NO_ENVIRONMENT, "--key-prefix", "shop/locks");

            assertThat(fit.code()).as(fit.out()).isZero();
            assertThat(fit.line("connection")).isEqualTo("works         connection: 1 of 1 addresses answer");
            assertThat(fit.line("one cluster with a leader")).startsWith("works");
            assertThat(fit.line("members")).isEqualTo("does not work members: 1 that vote, 0 learners");
            assertThat(fit.line("alarms")).isEqualTo("works         alarms: none");
            assertThat(fit.line("size of the database")).startsWith("works").contains("in use");
            assertThat(fit.line("compaction")).startsWith("unknown");
            assertThat(fit.line("rights of other clients")).startsWith("does not work");
            assertThat(fit.line("short leases")).startsWith("works");
            assertThat(fit.line("keys under the prefix")).startsWith("works");
            assertThat(fit.line("long transactions")).startsWith("works");
            GetOption keys =
                    GetOption.builder().isPrefix(true).withKeysOnly(true).build();
            assertThat(answer(eye.getKVClient().get(bytes("shop/"), keys)).getKvs())
                    .as("what is left are tombstones, which etcd removes")
                    .allSatisfy(it -> assertThat(it.getKey().toString(UTF_8)).startsWith("shop/locks/gone/"))
                    .allSatisfy(it -> assertThat(it.getLease()).isNotZero());
        }
    }

    @Test
    void compactionIsSeen() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                Client eye = client(server)) {
            Object unused = answer(eye.getKVClient().put(bytes("a"), bytes("1")));
            long last = answer(eye.getKVClient().put(bytes("a"), bytes("2")))
                    .getHeader()
                    .getRevision();
            unused = answer(eye.getKVClient().compact(last));

            assertThat(Examined.at(address(server), NO_ENVIRONMENT).line("compaction"))
                    .isEqualTo("works         compaction: old revisions are compacted");
        }
    }

    @Test
    void settingsThatDoNotFitAreFound() {
        try (EtcdServer server =
                EtcdServer.start("--max-txn-ops=50", "--election-timeout=5000", "--heartbeat-interval=500")) {
            Examined examined = Examined.at(address(server), NO_ENVIRONMENT);

            assertThat(examined.line("long transactions"))
                    .startsWith("does not work")
                    .contains("too many operations");
            assertThat(examined.line("short leases")).matches("does not work short leases: the shortest is [78] s");
            assertThat(examined.code()).isOne();
        }
    }

    @Test
    void fullDatabaseIsFound() throws Exception {
        try (EtcdServer server = EtcdServer.start("--quota-backend-bytes=1000000");
                Client filler = client(server)) {
            ByteSequence large = bytes("x".repeat(200_000));
            String refusal = Flux.range(0, 100)
                    .concatMap(i -> Mono.fromFuture(() -> filler.getKVClient().put(bytes("fill/" + i), large)))
                    .then(Mono.just("nothing"))
                    .onErrorResume(full -> Mono.just(String.valueOf(full.getMessage())))
                    .block(Duration.ofSeconds(30));
            assertThat(refusal).contains("space exceeded");

            Examined examined = Examined.at(address(server), NO_ENVIRONMENT);

            assertThat(examined.line("alarms")).startsWith("does not work alarms: NOSPACE");
            assertThat(examined.line("keys under the prefix")).startsWith("does not work");
            assertThat(examined.code()).isOne();
        }
    }

    @Test
    void usersAreChecked() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                Client operator = client(server)) {
            Auth auth = operator.getAuthClient();
            for (String it : List.of("root", "locks", "others")) {
                Object unused = answer(auth.userAdd(bytes(it), bytes("geheim")));
                unused = answer(auth.roleAdd(bytes(it)));
                unused = answer(auth.userGrantRole(bytes(it), bytes(it)));
            }
            Object unused = answer(auth.roleGrantPermission(
                    bytes("locks"), bytes("holdfast/"), bytes("holdfast0"), Permission.Type.READWRITE));
            unused = answer(auth.authEnable());

            Examined right =
                    Examined.at(address(server), Map.of("HOLDFAST_USER", "locks", "HOLDFAST_PASSWORD", "geheim"));
            assertThat(right.code()).as(right.out()).isZero();
            assertThat(right.line("rights of other clients")).startsWith("works");

            Examined other =
                    Examined.at(address(server), Map.of("HOLDFAST_USER", "others", "HOLDFAST_PASSWORD", "geheim"));
            assertThat(other.line("keys under the prefix"))
                    .startsWith("does not work")
                    .contains("permission denied");
            assertThat(other.code()).isOne();

            Examined wrong =
                    Examined.at(address(server), Map.of("HOLDFAST_USER", "locks", "HOLDFAST_PASSWORD", "falsch"));
            assertThat(wrong.code()).isOne();
            assertThat(wrong.out()).contains("authentication failed").doesNotContain("falsch");
        }
    }

    @Test
    void membersAreCountedAndALostMajorityIsFound() {
        List<EtcdServer> members = EtcdServer.startThree();
        try {
            String all = address(members.toArray(EtcdServer[]::new));
            Examined three = Examined.at(all, NO_ENVIRONMENT);
            assertThat(three.line("members")).isEqualTo("works         members: 3 that vote, 0 learners");
            assertThat(three.code()).as(three.out()).isZero();

            members.get(1).stop();
            members.get(2).stop();
            Examined one = Flux.defer(() -> Flux.just(Examined.briefly(all)))
                    .repeat(30) // the last one keeps its leader until its election time-out
                    .filter(it -> it.line("one cluster with a leader").startsWith("does not work"))
                    .blockFirst();
            assertThat(one.line("connection")).startsWith("works").contains("1 of 3 addresses answer");
            assertThat(one.code()).isOne();
        } finally {
            members.forEach(EtcdServer::close);
        }
    }

    @Test
    void addressesOfTwoClustersAreFound() {
        try (EtcdServer one = EtcdServer.start();
                EtcdServer other = EtcdServer.start()) {
            Examined both = Examined.at(address(one, other), NO_ENVIRONMENT);

            assertThat(both.line("one cluster with a leader"))
                    .isEqualTo("does not work one cluster with a leader: the addresses are of 2 clusters");
            assertThat(both.code()).isOne();
        }
    }

    @Test
    void addressWithoutServerEndsInTime() {
        Examined nowhere = Examined.briefly("etcd://127.0.0.1:1");

        assertThat(nowhere.line("connection"))
                .startsWith("does not work")
                .contains("127.0.0.1:1")
                .contains("refused");
        assertThat(nowhere.code()).isOne();
        assertThat(nowhere.took()).isLessThan(Duration.ofSeconds(8));
    }

    @Test
    void addressWithTlsRefusesAServerWithoutIt() {
        try (EtcdServer server = EtcdServer.start()) {
            Examined secured = Examined.briefly(address(server).replace("etcd:", "etcds:"));

            assertThat(secured.line("connection")).startsWith("does not work");
            assertThat(secured.code()).isOne();
        }
    }
}
