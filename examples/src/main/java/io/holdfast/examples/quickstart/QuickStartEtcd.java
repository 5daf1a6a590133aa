package io.holdfast.examples.quickstart;

import io.etcd.jetcd.Client;
import io.holdfast.LockClient;
import io.holdfast.etcd.EtcdLockBackend;
import reactor.core.publisher.Mono;

public final class QuickStartEtcd {

    public static void main(String[] args) {
        String server = args.length > 0 ? args[0] : "http://localhost:2379";
        try (Client client = Client.builder().endpoints(server).build()) {
            LockClient locks = LockClient.create(EtcdLockBackend.over(client));

            String sold = locks.lock("stock/42")
                    .withLock(lease -> Mono.just("sold with token " + lease.fencingToken()))
                    .block();
            System.out.println(sold);
            locks.close().block(); // before the client
        }
    }
}
