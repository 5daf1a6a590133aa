package io.holdfast.testkit.server;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Other versions of the databases, as images for a Docker engine. What cannot be had is {@linkplain LeftOut told}. */
public final class DatabaseImages {

    /** The system property or environment variable that names the images, parted by commas: {@value}. */
    public static final String IMAGES = "DATABASE_IMAGES";

    private static final String USUAL =
            "mysql:8.0,mysql:8.4,mariadb:10.6,mariadb:10.11,postgres:13,postgres:14,postgres:15,postgres:16,postgres:17";

    private DatabaseImages() {}

    /**
     * Those that can be had: the engine has them, or a registry gives them. Blocks until the engine has said so.
     *
     * @return names that {@link ContainerDatabase#run} takes
     */
    public static List<String> available() {
        List<String> named = Stream.of(named().split(",", -1))
                .map(String::strip)
                .filter(it -> !it.isEmpty())
                .toList();
        if (DockerEngine.find().isEmpty()) {
            tellThatThereIsNoEngine(String.join(", ", named));
            return List.of();
        }
        return named.stream().filter(it -> isThere(it, IMAGES)).toList();
    }

    /** Whether an image can be had, which the option names. */
    static boolean isThere(String image, String option) {
        Optional<DockerEngine> engine = DockerEngine.find();
        if (engine.isEmpty()) {
            tellThatThereIsNoEngine(image);
            return false;
        }
        try {
            engine.get().requireImage(image);
            return true;
        } catch (IllegalStateException missing) {
            LeftOut.tell(image, "%s; name another one by -D%s".formatted(missing.getMessage(), option));
            return false;
        }
    }

    private static void tellThatThereIsNoEngine(String what) {
        LeftOut.tell(what, "no Docker engine answers; start one, or name one by DOCKER_HOST");
    }

    /**
     * Those of PostgreSQL that can be had.
     *
     * @return some of {@link #available}
     */
    public static List<String> ofPostgres() {
        return available().stream().filter(ContainerDatabase::isPostgres).toList();
    }

    /**
     * Those of MariaDB and MySQL that can be had.
     *
     * @return the rest of {@link #available}
     */
    public static List<String> ofMariaDb() {
        return available().stream()
                .filter(image -> !ContainerDatabase.isPostgres(image))
                .toList();
    }

    private static String named() {
        String given = System.getProperty(IMAGES, System.getenv(IMAGES));
        return given == null ? USUAL : given;
    }
}
