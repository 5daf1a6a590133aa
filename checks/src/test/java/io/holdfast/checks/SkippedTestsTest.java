package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The builds leave out these tests only, on a machine that lacks what they need. Then each of them says what is missing. */
class SkippedTestsTest {

    private static final Pattern SKIPS = Pattern.compile(
            "\\b(?:assume(?:True|False|That)|assumingThat)\\(|@(?:Enabled|Disabled)\\w*\\(|@Disabled\\b|\\babort\\("
                    + "|allowZeroInvocations = true");

    private static final Pattern WITHOUT_A_REASON =
            Pattern.compile("\\bassume(?:True|False)\\([^\",]*\\);|\\babort\\(\\)");

    private static final Map<String, String> ALLOWED = Map.ofEntries(
            Map.entry("LicencesTest", "1: Maven is offline"),
            Map.entry("RedisClusterFailoverIT", "3: the version of Redis, or Valkey"),
            Map.entry("ClusterBusIT", "1: the version of Redis"),
            Map.entry("EtcdStore", "1: etcd"),
            Map.entry("EtcdBackendIT", "1: etcd"),
            Map.entry("DoctorEtcdIT", "1: etcd"),
            Map.entry("ProgramIT", "1: etcd"),
            Map.entry("QuickStartIT", "1: etcd"),
            Map.entry("NeverOversoldIT", "1: etcd"),
            Map.entry("QuorumHostileIT", "1: etcd"),
            Map.entry("MariaDbStore", "1: MySQL"),
            Map.entry("ImagesContractIT", "1: images of databases"),
            Map.entry("PostgresImagesErrorsIT", "1: images of databases"),
            Map.entry("PostgresImagesFenceIT", "1: images of databases"),
            Map.entry("MariaDbImagesErrorsIT", "1: images of databases"),
            Map.entry("MariaDbImagesFenceIT", "1: images of databases"),
            Map.entry("R2dbcPgBouncerIT", "2: PgBouncer"),
            Map.entry("FenceIT", "1: the server keeps locks of prepared transactions"),
            Map.entry("FenceMySqlIT", "1: an error that MySQL does not have"),
            Map.entry("PromtoolTest", "1: promtool"),
            Map.entry("FlowsTest", "1: the version of Java"),
            Map.entry("WhereWorkRunsTest", "2: the version of Java"),
            Map.entry("ClosedClientsIT", "1: Linux"),
            Map.entry("ServerClockIT", "1: libfaketime"),
            Map.entry("BrowserIT", "1: a browser"));

    @Test
    void onlyTheseTestsMayBeLeftOutAndEachSaysWhy() {
        Map<String, Long> found = TestSource.all().stream()
                .filter(source -> !source.name().equals("SkippedTestsTest"))
                .filter(source -> SKIPS.matcher(source.text()).find())
                .collect(Collectors.toMap(
                        TestSource::name,
                        it -> SKIPS.matcher(it.text()).results().count()));

        assertThat(found)
                .isEqualTo(ALLOWED.entrySet().stream()
                        .collect(Collectors.toMap(
                                Map.Entry::getKey,
                                it -> Long.valueOf(it.getValue().split(":", 2)[0]))));
        assertThat(TestSource.all())
                .filteredOn(source -> WITHOUT_A_REASON.matcher(source.text()).find())
                .extracting(TestSource::name)
                .isEmpty();
    }
}
