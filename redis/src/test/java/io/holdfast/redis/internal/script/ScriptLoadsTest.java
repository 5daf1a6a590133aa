package io.holdfast.redis.internal.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One call brings a script; the others wait for that, and not for ever. */
class ScriptLoadsTest {

    private static final LuaScript SCRIPT = LuaScript.load("mutex");
    private static final LuaScript OTHER = LuaScript.load("mutex_renew");

    private final ScriptLoads loads = new ScriptLoads();
    private final List<String> proceeded = new ArrayList<>();

    private final class Waiting implements ScriptLoads.Call {

        private final long order = loads.nextOrder();
        private final LuaScript script;
        private final String key;
        private boolean isWanted = true;
        private boolean isUnconnected;

        Waiting(LuaScript script, String key) {
            this.script = script;
            this.key = key;
        }

        @Override
        public LuaScript script() {
            return script;
        }

        @Override
        public String key() {
            return key;
        }

        @Override
        public boolean isWanted() {
            return isWanted;
        }

        @Override
        public boolean isUnconnected() {
            return isUnconnected;
        }

        @Override
        public long order() {
            return order;
        }

        @Override
        public void proceed(boolean bringsScript) {
            proceeded.add(order + (bringsScript ? " brings it" : " goes on"));
            assertThat(loads.admits(this, bringsScript)).isTrue();
        }
    }

    private final Waiting first = new Waiting(SCRIPT, "orders");
    private final Waiting second = new Waiting(SCRIPT, "orders");
    private final Waiting third = new Waiting(SCRIPT, "orders");

    private void bringAndWait() {
        assertThat(loads.admits(first, true)).isTrue();
        assertThat(loads.admits(third, false)).isFalse();
        assertThat(loads.admits(second, true)).isFalse();
        assertThat(loads.admits(new Waiting(OTHER, "invoices"), false))
                .as("another script, for another key")
                .isTrue();
    }

    @Test
    void anotherScriptDoesNotPassAnEarlierCallForItsKey() {
        bringAndWait();
        Waiting release = new Waiting(OTHER, "orders");
        assertThat(loads.admits(release, true)).isFalse();
        loads.arrived(SCRIPT);
        assertThat(proceeded).containsExactly("2 goes on", "3 goes on", release.order + " brings it");
        loads.arrived(OTHER);
        assertThat(loads.isAny()).isFalse();
    }

    @Test
    void anotherScriptIsNotMistakenForTheAwaitedOne() {
        assertThat(loads.admits(first, true)).isTrue();
        assertThat(loads.admits(second, false)).isFalse();
        Waiting release = new Waiting(OTHER, "orders");
        assertThat(loads.admits(release, false)).isFalse();
        second.isWanted = false;
        loads.ended(SCRIPT, first, true);
        assertThat(proceeded).containsExactly(release.order + " goes on");
        assertThat(loads.isAny()).isFalse();
    }

    @Test
    void allCallsGoOnInTheirOrderWhenTheScriptHasArrived() {
        bringAndWait();
        loads.arrived(SCRIPT);
        assertThat(proceeded).containsExactly("2 goes on", "3 goes on");
        assertThat(loads.isAny()).isFalse();
    }

    @Test
    void theNextCallBringsTheScriptWhenTheFirstFails() {
        bringAndWait();
        loads.ended(SCRIPT, first, true);
        loads.ended(SCRIPT, first, true);
        assertThat(proceeded).containsExactly("2 brings it");
        loads.ended(SCRIPT, second, true);
        loads.ended(SCRIPT, third, true);
        assertThat(proceeded).containsExactly("2 brings it", "3 brings it");
        assertThat(loads.isAny()).isFalse();
    }

    /** The server may have it by now: an error may follow after it has compiled the script. */
    @Test
    void theNextCallFindsOutWhetherTheServerHasTheScript() {
        bringAndWait();
        loads.ended(SCRIPT, first, false);
        assertThat(proceeded).containsExactly("2 goes on");
        assertThat(loads.admits(second, true)).as("the server lacks it").isTrue();
        loads.arrived(SCRIPT);
        assertThat(proceeded).containsExactly("2 goes on", "3 goes on");
        assertThat(loads.isAny()).isFalse();
    }

    /** The call for the same key may have to be sent again, with the script. */
    @Test
    void anotherScriptDoesNotPassACallThatFindsOutWhetherTheServerHasItsScript() {
        assertThat(loads.admits(first, true)).isTrue();
        assertThat(loads.admits(second, false)).isFalse();
        loads.ended(SCRIPT, first, false);
        Waiting release = new Waiting(OTHER, "orders");
        Waiting another = new Waiting(OTHER, "orders");
        assertThat(loads.admits(release, false)).isFalse();
        assertThat(loads.admits(another, false)).isFalse();
        loads.ended(SCRIPT, second, false);
        assertThat(proceeded).containsExactly("2 goes on", release.order + " goes on", another.order + " goes on");
        assertThat(loads.isAny()).isFalse();
    }

    @Test
    void aCallWithoutAWaitingCallerIsNotSent() {
        bringAndWait();
        second.isWanted = false;
        loads.ended(SCRIPT, first, true);
        assertThat(proceeded).containsExactly("3 brings it");
    }

    @Test
    void anotherConnectionGetsTheScriptAnew() {
        bringAndWait();
        loads.interrupted();
        assertThat(proceeded).containsExactly("2 brings it");
    }

    @Test
    void aCallThatWaitsForTheConnectionKeepsItsTurn() {
        bringAndWait();
        first.isUnconnected = true;
        loads.interrupted();
        assertThat(proceeded).isEmpty();
        loads.arrived(SCRIPT);
        assertThat(proceeded).containsExactly("2 goes on", "3 goes on");
    }

    /** The order of an immutable map differs from JVM to JVM. */
    @Test
    void loadsThatAreInterruptedGoOnInTheOrderInWhichTheyBegan() {
        List<String> expected = new ArrayList<>();
        for (String name :
                List.of("mutex", "mutex_renew", "shared_acquire", "shared_release", "shared_renew", "inspect")) {
            LuaScript script = LuaScript.load(name);
            assertThat(loads.admits(new Waiting(script, name), true)).isTrue();
            Waiting next = new Waiting(script, name);
            assertThat(loads.admits(next, false)).isFalse();
            expected.add(next.order + " brings it");
        }
        loads.interrupted();
        assertThat(proceeded).containsExactlyElementsOf(expected);
    }
}
