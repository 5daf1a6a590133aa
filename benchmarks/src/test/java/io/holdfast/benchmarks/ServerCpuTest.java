package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ServerCpuTest {

    @Test
    void cpuIsThatOfUserAndSystemOfTheProcessWithoutItsChildren() {
        String info = """
                # CPU\r
                used_cpu_sys:1.250000\r
                used_cpu_user:2.500000\r
                used_cpu_sys_children:7.000000\r
                used_cpu_user_children:8.000000\r
                used_cpu_sys_main_thread:1.240000\r
                used_cpu_user_main_thread:2.490000\r
                """;
        assertThat(ServerCpu.nanosOf(info)).isEqualTo(3_750_000_000L);
    }

    @Test
    void anAnswerWithoutBothIsAnErrorAndNotZero() {
        assertThatThrownBy(() -> ServerCpu.nanosOf("# CPU\r\nused_cpu_sys:1.25\r\n"))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
