package io.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.internal.Members.Member;
import org.junit.jupiter.api.Test;

class MembersTest {

    private static final class One extends Member {}

    private static final class Other extends Member {}

    private final Members members = new Members();
    private final One first = new One();
    private final Other second = new Other();
    private final One third = new One();

    private void addAll() {
        members.add(first);
        members.add(second);
        members.add(third);
    }

    @Test
    void aNewListIsEmpty() {
        assertThat(members.isEmpty()).isTrue();
        assertThat(members.all(Member.class)).isEmpty();
    }

    @Test
    void membersOfOneKindAreListedOldestFirst() {
        addAll();

        assertThat(members.all(One.class)).containsExactly(first, third);
        assertThat(members.all(Other.class)).containsExactly(second);
        assertThat(members.isEmpty()).isFalse();
    }

    @Test
    void theFirstTheLastAndAMiddleMemberCanLeave() {
        addAll();
        assertThat(members.remove(second)).isTrue();
        assertThat(members.all(Member.class)).containsExactly(first, third);
        assertThat(members.remove(first)).isTrue();
        assertThat(members.all(Member.class)).containsExactly(third);
        assertThat(members.remove(third)).isTrue();
        assertThat(members.isEmpty()).isTrue();
    }

    @Test
    void aMemberOutsideTheListCannotLeave() {
        assertThat(members.remove(first)).isFalse();
        addAll();
        assertThat(members.remove(second)).isTrue();
        assertThat(members.remove(second)).isFalse();
        assertThat(members.all(Member.class)).containsExactly(first, third);
    }

    @Test
    void aListedResultDoesNotChangeLater() {
        addAll();
        var before = members.all(Member.class);

        boolean unused = members.remove(second);

        assertThat(before).containsExactly(first, second, third);
    }
}
