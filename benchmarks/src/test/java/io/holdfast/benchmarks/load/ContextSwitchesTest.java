package io.holdfast.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ContextSwitchesTest {

    @Test
    void voluntaryOnesAndOthersCount() {
        assertThat(ContextSwitches.of("""
                        Name:\tlettuce
                        voluntary_ctxt_switches:\t150
                        nonvoluntary_ctxt_switches:\t27
                        """)).isEqualTo(177);
    }
}
