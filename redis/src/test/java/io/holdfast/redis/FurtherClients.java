package io.holdfast.redis;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The further clients of a contract. */
final class FurtherClients {

    private final List<RedisLockBackend> clients = new CopyOnWriteArrayList<>();

    @CanIgnoreReturnValue
    RedisLockBackend add(RedisLockBackend client) {
        clients.add(client);
        return client;
    }

    void close() {
        clients.forEach(Store::end);
        clients.clear();
    }
}
