package io.holdfast.testkit.server;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Other versions of the databases, as images for a Docker engine. {@link LeftOut} reports the images that are not
 * available.
 */
public final class DatabaseImages {

    /** The system property or environment variable that names the images, separated by commas: {@value}. */
    public static final String IMAGES = "DATABASE_IMAGES";

    private static final String USUAL =
            "mysql:8.0,mysql:8.4,mariadb:10.6,mariadb:10.11,postgres:13,postgres:14,postgres:15,postgres:16,postgres:17";

    private DatabaseImages() {}

    /**
     * Returns the available images: the engine has them, or a registry provides them. Blocks until the engine has
     * answered.
     *
     * @return names for {@link ContainerDatabase#run}
     */
    public static List<String> available() {
        List<String> named = Stream.of(named().split(",", -1))
                .map(String::strip)
                .filter(it -> !it.isEmpty())
                .toList();
        if (DockerEngine.find().isEmpty()) {
            reportMissingEngine(String.join(", ", named));
            return List.of();
        }
        return named.stream().filter(it -> isThere(it, IMAGES)).toList();
    }

    /** Returns whether an image is available; the option names the image. */
    static boolean isThere(String image, String option) {
        Optional<DockerEngine> engine = DockerEngine.find();
        if (engine.isEmpty()) {
            reportMissingEngine(image);
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

    private static void reportMissingEngine(String what) {
        LeftOut.tell(what, "no Docker engine answers; start one, or name one by DOCKER_HOST");
    }

    /**
     * Returns the available images of PostgreSQL.
     *
     * @return some of {@link #available}
     */
    public static List<String> ofPostgres() {
        return available().stream().filter(ContainerDatabase::isPostgres).toList();
    }

    /**
     * Returns the available images of MariaDB and MySQL.
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
