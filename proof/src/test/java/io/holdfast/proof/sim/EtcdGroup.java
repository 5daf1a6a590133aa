package io.holdfast.proof.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Three members of etcd. {@link EtcdMember} is the part of each of them. A request is decided at the moment from which a majority has it in its log.
 * No later leader lacks it then, so it is applied here, once. Each member learns of it at its own time.
 */
final class EtcdGroup {

    private static final int MEMBERS = 3;

    /** A request in the log. */
    static final class Proposal {

        final EtcdMember gateway;
        final Function<EtcdData, Object> request;
        final Consumer<Object> answer;
        private List<EtcdData.Change> changes = List.of();
        private Object outcome = "";
        private boolean isDecided;
        private boolean isAnswered;

        /**
         * Makes a proposal.
         *
         * @param gateway the member that answers it
         * @param answer gets the outcome, or what the request has thrown
         */
        Proposal(EtcdMember gateway, Function<EtcdData, Object> request, Consumer<Object> answer) {
            this.gateway = gateway;
            this.request = request;
            this.answer = answer;
        }

        List<EtcdData.Change> changes() {
            return changes;
        }

        boolean isDecided() {
            return isDecided;
        }

        boolean isAnswered() {
            return isAnswered;
        }

        void answer(Object with) {
            if (!isAnswered) {
                isAnswered = true;
                answer.accept(with);
            }
        }

        void answer() {
            answer(outcome);
        }
    }

    private final World world;
    private final Network network;
    private final EtcdData data = new EtcdData();
    private final List<Proposal> decided = new ArrayList<>();
    private final List<EtcdMember> members;
    private final boolean isOld;
    private final long[][] lastOnWay = new long[MEMBERS][MEMBERS];
    private long lastLease = 0x100;

    /**
     * Starts them; the first one leads.
     *
     * @param isOld whether a former leader may revoke leases, as before etcd 3.4.31
     */
    EtcdGroup(World world, Network network, boolean isOld) {
        this.world = world;
        this.network = network;
        this.isOld = isOld;
        members = IntStream.range(0, MEMBERS)
                .mapToObj(i -> new EtcdMember(world, this, i, Clocks.rate(world)))
                .toList();
        members.get(0).leadsAtFirst();
    }

    List<EtcdMember> members() {
        return members;
    }

    EtcdData data() {
        return data;
    }

    boolean isOld() {
        return isOld;
    }

    long nextLease() {
        return ++lastLease;
    }

    int decidedSoFar() {
        return decided.size();
    }

    Proposal decided(int index) {
        return decided.get(index);
    }

    /** A majority has it. */
    void decide(Proposal entry) {
        if (!entry.isDecided) {
            entry.isDecided = true;
            int before = data.history().size();
            try {
                entry.outcome = entry.request.apply(data);
            } catch (io.grpc.StatusRuntimeException refused) {
                entry.outcome = refused;
            }
            List<EtcdData.Change> history = data.history();
            entry.changes = before < history.size() ? List.copyOf(history.subList(before, history.size())) : List.of();
            decided.add(entry);
        }
    }

    /** From one member to another, in order. */
    void send(EtcdMember from, EtcdMember to, Runnable task) {
        long[] last = lastOnWay[from.index()];
        last[to.index()] = Math.max(last[to.index()] + 1, network.arrival(from.name(), to.name(), false));
        world.at(last[to.index()], () -> to.receive(task));
    }
}
