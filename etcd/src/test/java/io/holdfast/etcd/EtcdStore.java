package io.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.options.GetOption;
import io.holdfast.testkit.server.EtcdServer;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;

/** A server of its own, and clients of it. */
final class EtcdStore implements AutoCloseable {

    private final List<EtcdServer> members;
    private final List<Client> clients = new ArrayList<>();
    private final Client eye;

    private EtcdStore(List<EtcdServer> members) {
        this.members = members;
        eye = client();
    }

    /** Leaves the test out where there is no etcd. */
    static EtcdStore start() {
        needsEtcd();
        return new EtcdStore(List.of(EtcdServer.start()));
    }

    static EtcdStore startThree() {
        needsEtcd();
        return new EtcdStore(EtcdServer.startThree());
    }

    static void needsEtcd() {
        assumeTrue(EtcdServer.isHere(), "no etcd on the PATH");
    }

    EtcdServer server() {
        return members.get(0);
    }

    List<EtcdServer> members() {
        return members;
    }

    Client client() {
        return client(members.stream().map(EtcdServer::endpoint).toArray(String[]::new));
    }

    Client client(String... endpoints) {
        Client client = Client.builder().endpoints(endpoints).build();
        clients.add(client);
        return client;
    }

    Client eye() {
        return eye;
    }

    /** The keys under the prefix, without tombstones and notices. */
    List<String> claims() {
        GetOption keys = GetOption.builder().isPrefix(true).withKeysOnly(true).build();
        return Waiting.forMono(Mono.fromFuture(eye.getKVClient().get(bytes("holdfast/"), keys))).getKvs().stream()
                .map(it -> it.getKey().toString(UTF_8))
                .filter(it -> !it.startsWith("holdfast/gone/") && !it.startsWith("holdfast/lost/"))
                .toList();
    }

    static ByteSequence bytes(String text) {
        return ByteSequence.from(text, UTF_8);
    }

    @Override
    public void close() {
        clients.forEach(Client::close);
        members.forEach(EtcdServer::close);
    }
}
