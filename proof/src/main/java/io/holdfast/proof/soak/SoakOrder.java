package io.holdfast.proof.soak;

import java.util.List;

/**
 * What the client process is told when it is started.
 *
 * @param name which its fresh names contain
 * @param target which back end
 * @param rate cycles per second
 * @param flaw what it leaks on purpose
 * @param servers their addresses, as the back end wants them
 */
record SoakOrder(String name, Target target, int rate, Flaw flaw, List<String> servers) {

    List<String> toArguments() {
        return List.of(name, target.word(), Integer.toString(rate), flaw.word(), String.join(" ", servers));
    }

    static SoakOrder parse(String... arguments) {
        return new SoakOrder(
                arguments[0],
                Target.parse(arguments[1]),
                Integer.parseInt(arguments[2]),
                Flaw.parse(arguments[3]),
                List.of(arguments[4].split(" ")));
    }
}
