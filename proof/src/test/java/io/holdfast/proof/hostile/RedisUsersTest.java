package io.holdfast.proof.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class RedisUsersTest {

    private static final String USER = "ACL SETUSER locks on >secret ";

    @Test
    void theClientsHaveTheRightsOfTheDocumentation() throws IOException {
        String documented = Files.readString(Path.of("../docs/operate/redis.md"))
                .lines()
                .filter(line -> line.startsWith(USER))
                .findFirst()
                .orElseThrow()
                .substring(USER.length());

        assertThat(RedisUsers.RIGHTS.split(" ", -1)).contains(documented.split(" ", -1));
    }
}
