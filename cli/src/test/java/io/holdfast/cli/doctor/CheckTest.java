package io.holdfast.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The table of the checks and the doctors name the same ones. */
class CheckTest {

    private static final Map<String, String> DOCTORS =
            Map.of("redis", "RedisDoctor", "sql", "SqlDoctor", "zookeeper", "ZooKeeperDoctor", "etcd", "EtcdDoctor");

    private static String source(String doctor) throws IOException {
        return Files.readString(Path.of("src/main/java/io/holdfast/cli/doctor", doctor + ".java"));
    }

    @Test
    void everyCheckOfTheTableIsMade() throws IOException {
        for (String id : Check.ALL.keySet()) {
            String[] words = id.split(" ", -1);
            String last = "\"" + words[words.length - 1] + "\"";
            if (words.length == 2) {
                assertThat(source(DOCTORS.get(words[0]))).contains(last);
            } else {
                assertThat(DOCTORS.values())
                        .allSatisfy(doctor -> assertThat(source(doctor)).contains(last));
            }
        }
    }

    @Test
    void everyCheckThatIsMadeIsInTheTable() throws IOException {
        Pattern made = Pattern.compile("(?:ask|each|finding)\\(\\s*\"([a-z0-9-]+)\"");
        for (Map.Entry<String, String> doctor : DOCTORS.entrySet()) {
            Matcher checks = made.matcher(source(doctor.getValue()));
            while (checks.find()) {
                assertThat(Check.of(doctor.getKey(), checks.group(1)).help()).isNotEmpty();
            }
        }
    }

    @Test
    void pagesThatTheTableNamesAreThere() {
        Matcher pages = Pattern.compile("docs/[a-z/-]+\\.md").matcher(Check.file("checks.txt"));
        assertThat(pages.results())
                .isNotEmpty()
                .allSatisfy(page -> assertThat(Path.of("..", page.group())).exists());
    }
}
