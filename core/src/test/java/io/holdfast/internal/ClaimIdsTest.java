package io.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ClaimIdsTest {

    @Test
    void anIdIs128BitsInHexadecimal() {
        ClaimIds ids = new ClaimIds(Seed.read());

        for (int i = 0; i < 1_000; i++) {
            assertThat(ids.next()).matches("[0-9a-f]{32}");
        }
    }

    @Test
    void aClientNeverRepeatsAnId() {
        ClaimIds ids = new ClaimIds(Seed.read());
        int many = 1_000_000;
        Set<String> seen = new HashSet<>(2 * many);

        for (int i = 0; i < many; i++) {
            assertThat(seen.add(ids.next())).isTrue();
        }
    }

    @Test
    void clientsDoNotMeet() {
        Set<String> seen = new HashSet<>();

        for (int client = 0; client < 1_000; client++) {
            ClaimIds ids = new ClaimIds(Seed.read());
            for (int i = 0; i < 100; i++) {
                assertThat(seen.add(ids.next())).isTrue();
            }
        }
    }

    @Test
    void bothHalvesChangeFromIdToId() {
        ClaimIds ids = new ClaimIds(Seed.read());
        String before = ids.next();

        for (int i = 0; i < 1_000; i++) {
            String next = ids.next();
            assertThat(next.substring(0, 16)).isNotEqualTo(before.substring(0, 16));
            assertThat(next.substring(16)).isNotEqualTo(before.substring(16));
            before = next;
        }
    }
}
