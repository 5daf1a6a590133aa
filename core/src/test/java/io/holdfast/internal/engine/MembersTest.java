package io.holdfast.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.internal.engine.Members.Member;
import io.holdfast.internal.engine.Members.Stage;
import java.util.List;
import org.junit.jupiter.api.Test;

class MembersTest {

    private static final class One extends Member {

        private final Stage stage;

        One(Stage stage) {
            this.stage = stage;
        }

        @Override
        public Stage stage() {
            return stage;
        }

        @Override
        public void close() {}
    }

    private final Members members = new Members();
    private final One first = new One(Stage.ACQUIRING);
    private final One second = new One(Stage.HOLDING);
    private final One third = new One(Stage.ACQUIRING);

    private void addAll() {
        members.add(first);
        members.add(second);
        members.add(third);
    }

    private List<Member> all() {
        return members.ask(member -> member, 10).oldest();
    }

    @Test
    void aNewListIsEmpty() {
        assertThat(members.isEmpty()).isTrue();
        assertThat(all()).isEmpty();
    }

    @Test
    void membersOfOneStageAreListedOldestFirst() {
        addAll();

        assertThat(members.all(Stage.ACQUIRING)).containsExactly(first, third);
        assertThat(members.all(Stage.HOLDING)).containsExactly(second);
        assertThat(members.isEmpty()).isFalse();
    }

    @Test
    void theFirstTheLastAndAMiddleMemberCanLeave() {
        addAll();
        assertThat(members.remove(second)).isTrue();
        assertThat(all()).containsExactly(first, third);
        assertThat(members.remove(first)).isTrue();
        assertThat(all()).containsExactly(third);
        assertThat(members.remove(third)).isTrue();
        assertThat(members.isEmpty()).isTrue();
    }

    @Test
    void aMemberOutsideTheListCannotLeave() {
        assertThat(members.remove(first)).isFalse();
        addAll();
        assertThat(members.remove(second)).isTrue();
        assertThat(members.remove(second)).isFalse();
        assertThat(all()).containsExactly(first, third);
    }

    @Test
    void aListedResultDoesNotChangeLater() {
        addAll();
        var before = all();

        boolean unused = members.remove(second);

        assertThat(before).containsExactly(first, second, third);
    }
}
