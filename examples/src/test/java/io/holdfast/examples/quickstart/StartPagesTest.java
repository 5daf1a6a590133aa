package io.holdfast.examples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StartPagesTest {

    @ParameterizedTest
    @CsvSource({
        "docs/start/redis.md, TwoTerminals",
        "docs/start/redlock.md, QuickStartRedlock",
        "docs/start/zookeeper.md, QuickStartZooKeeper",
        "docs/start/etcd.md, QuickStartEtcd",
        "docs/start/postgresql.md, QuickStartPostgres",
        "docs/start/memory.md, QuickStartMemory",
        "docs/guides/leader-election.md, Candidate"
    })
    void theProgramOfThePageIsTheCompiledOne(String page, String program) throws Exception {
        Class<?> compiled = Class.forName(StartPagesTest.class.getPackageName() + "." + program);

        assertThat(StartPages.blocks(page, "java")).contains(Program.shown(compiled));
    }

    @ParameterizedTest
    @CsvSource({
        "README.md, holdfast-redis",
        "docs/start/redis.md, holdfast-redis",
        "docs/start/redlock.md, holdfast-redlock",
        "docs/start/zookeeper.md, holdfast-zookeeper",
        "docs/start/etcd.md, holdfast-etcd",
        "docs/start/postgresql.md, holdfast-r2dbc",
        "docs/start/memory.md, holdfast-core"
    })
    void thePageNamesTheModuleForMavenAndForGradle(String page, String module) throws IOException {
        assertThat(StartPages.blocks(page, "xml"))
                .anySatisfy(it -> assertThat(it).contains("<artifactId>" + module + "</artifactId>"));
        assertThat(StartPages.text(page)).contains("implementation(\"io.holdfast:" + module);
    }
}
