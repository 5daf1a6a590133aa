package io.holdfast.benchmarks.peer;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.holdfast.testkit.server.PostgresServer;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;
import reactor.core.publisher.Mono;

/** Spring Integration's locks in a table. They belong to a thread, and waiting blocks it. */
final class JdbcLockRegistryPeer implements Peer {

    private static final int CONNECTIONS = 20;

    private final HikariDataSource connections;
    private final JdbcLockRegistry registry;

    JdbcLockRegistryPeer(Postgres server) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.jdbcUrl());
        config.setUsername(PostgresServer.USER);
        config.setMaximumPoolSize(CONNECTIONS);
        connections = new HikariDataSource(config);
        DefaultLockRepository repository = new DefaultLockRepository(connections);
        repository.setTransactionManager(new JdbcTransactionManager(connections));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        registry = new JdbcLockRegistry(repository);
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return Mono.fromRunnable(() -> {
            Lock one = registry.obtain(lock);
            one.lock();
            try {
                Object unused = whileHolding.block();
            } finally {
                one.unlock();
            }
        });
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void close() {
        connections.close();
    }
}
