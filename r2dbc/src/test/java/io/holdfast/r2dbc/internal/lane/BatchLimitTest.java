package io.holdfast.r2dbc.internal.lane;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BatchLimitTest {

    private static final long REPLY_MILLIS = 2_000;

    @Test
    void slowBatchesGetSmallerUntilTheyAreFastOrSmall() {
        BatchLimit limit = new BatchLimit(BatchLimit.MOST);
        assertThat(limit.after(512, 501, REPLY_MILLIS).calls()).isEqualTo(256);
        assertThat(limit.after(400, 501, REPLY_MILLIS).calls()).isEqualTo(200);
        assertThat(limit.after(1, 2_000, REPLY_MILLIS).calls()).isEqualTo(BatchLimit.LEAST);
    }

    @Test
    void fullBatchesThatAreFastGetLarger() {
        BatchLimit limit = new BatchLimit(200);
        assertThat(limit.after(200, 249, REPLY_MILLIS).calls()).isEqualTo(400);
        assertThat(limit.after(199, 249, REPLY_MILLIS)).isEqualTo(limit);
        assertThat(limit.after(200, 250, REPLY_MILLIS))
                .as("the limit after a batch that was just fast enough")
                .isEqualTo(limit);
        assertThat(new BatchLimit(BatchLimit.MOST).after(512, 0, REPLY_MILLIS).calls())
                .isEqualTo(BatchLimit.MOST);
    }
}
