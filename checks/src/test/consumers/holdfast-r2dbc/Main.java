import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** An application brings the driver. This one has no driver, and its database is unreachable. */
final class Main {

    private static final class Away implements ConnectionFactory {

        @Override
        public Publisher<? extends Connection> create() {
            return Mono.error(new R2dbcNonTransientResourceException("away", "08001"));
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return () -> "PostgreSQL";
        }
    }

    public static void main(String[] arguments) {
        LockClient locks = LockClient.create(R2dbcLockBackend.create(new Away()));
        try {
            locks.lock("stock/42").tryAcquire().block();
        } catch (LockBackendException expected) {
            System.out.println("no lock without a database: " + expected.getMessage());
        }
        locks.close().block();
    }
}
