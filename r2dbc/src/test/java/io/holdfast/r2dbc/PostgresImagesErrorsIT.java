package io.holdfast.r2dbc;

import io.holdfast.testkit.server.DatabaseImages;
import java.util.List;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** On other versions of PostgreSQL, in containers. */
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("images")
class PostgresImagesErrorsIT extends R2dbcErrorsIT {

    @Parameter
    private String image;

    static List<String> images() {
        return DatabaseImages.ofPostgres();
    }

    @Override
    Store newStore() {
        return Store.image(image);
    }

    /** Replaced by a start for each image. */
    @Override
    void start() {}

    @BeforeParameterizedClassInvocation
    void startImage() {
        super.start();
    }

    @Override
    void stop() {}

    @AfterParameterizedClassInvocation
    void stopImage() {
        super.stop();
    }
}
