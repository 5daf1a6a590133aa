package io.holdfast.proof.hostile;

import java.nio.file.Path;
import java.util.List;

/**
 * What a client process is told when it is started.
 *
 * @param name its name: each process of a campaign has another one
 * @param seed what its choices come from
 * @param lanes how many things it does at a time
 * @param journal where it writes down what it sees
 * @param register the address of the {@link Register}
 * @param address where the locks are
 */
record ClientOrder(String name, long seed, int lanes, Path journal, String register, Address address) {

    List<String> toArguments() {
        return List.of(
                name, Long.toString(seed), Integer.toString(lanes), journal.toString(), register, address.toText());
    }

    static ClientOrder parse(String... arguments) {
        return new ClientOrder(
                arguments[0],
                Long.parseLong(arguments[1]),
                Integer.parseInt(arguments[2]),
                Path.of(arguments[3]),
                arguments[4],
                Address.parse(arguments[5]));
    }
}
