package io.holdfast.cli;

import io.holdfast.LockException;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockReport;
import io.holdfast.cli.doctor.Doctor;
import io.holdfast.cli.doctor.Finding;
import io.holdfast.spi.support.Printable;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Runs one command. */
final class Program {

    /** The command is done. */
    static final int DONE = 0;

    /** The back end failed, or did not answer, or the output was lost. */
    static final int FAILED = 1;

    /** The command line is wrong, or the operator did not confirm with yes. */
    static final int USAGE = 2;

    /** No claim holds the lock or waits for it, or the claim to break does not hold it. */
    static final int NOTHING_THERE = 3;

    /** The default time to wait for each answer of the back end. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final String HELP = """
            Shows and breaks the locks of Holdfast, and checks servers.

              holdfast list                 lists all locks that have a holder or a waiter
              holdfast show NAME            shows one lock with its holders and waiters
              holdfast break NAME           takes the lock away from its holder, whose client finds out by its next renewal
              holdfast doctor               checks one by one what Holdfast needs of the server, and prints what does not work, what that costs,
                                            and what helps. It takes a lock of its own, named doctor- and random digits, and writes keys, rows or
                                            nodes of that name. It removes them, also after Ctrl-C; it never touches other locks

              --store ADDRESS               or HOLDFAST_STORE: redis://host:6379 (rediss:// for TLS, redis-sentinel://host1,host2#master,
                                            redis+cluster://host1,host2, redis+redlock://host1,host2,host3,
                                            rediss+cluster:// and rediss+redlock:// for TLS),
                                            zookeeper://host1,host2/holdfast, etcd://host1:2379,host2:2379 (etcds:// for TLS),
                                            r2dbc:postgresql://host/database, r2dbc:mariadb://host/database, r2dbc:mysql://host/database
              --claim ID                    break: this claim, if the lock has several holders
              --yes                         break: do not ask for confirmation
              --json                        print one JSON object on each line
              --key-prefix PREFIX           Redis and etcd: the prefix of the keys, by default holdfast: and holdfast/
              --schema SCHEMA               databases: the schema of the tables, by default that of the connection

            Set the user and the password in the environment: HOLDFAST_USER and HOLDFAST_PASSWORD.
            Exit code: 0 done, 1 the back end failed or did not answer, 2 wrong usage or not confirmed, 3 nothing there: no claim holds the lock or waits for it.
            The doctor ends with 1 if a check that locks need does not work.""";

    private final Map<String, String> environment;
    private final Function<Arguments, LockInspector> stores;
    private final Function<Arguments, Doctor> doctors;
    private final Duration patience;
    private final BufferedReader in;
    private final PrintStream out;
    private final PrintStream err;

    Program(Map<String, String> environment, BufferedReader in, PrintStream out, PrintStream err) {
        this(environment, new Stores(environment)::open, PATIENCE, in, out, err);
    }

    /**
     * Makes a program for any back ends.
     *
     * @param patience the longest time from one answer of the back end to the next
     */
    Program(
            Map<String, String> environment,
            Function<Arguments, LockInspector> stores,
            Duration patience,
            BufferedReader in,
            PrintStream out,
            PrintStream err) {
        this.environment = environment;
        this.stores = stores;
        // The longest check takes five times the time for one.
        this.doctors = arguments -> new Stores(environment).doctor(arguments, patience.dividedBy(6));
        this.patience = patience;
        this.in = in;
        this.out = out;
        this.err = err;
    }

    int run(List<String> words) {
        int code = ended(words);
        if (out.checkError()) {
            err.println("The output was not written, or only a part of it.");
            return FAILED;
        }
        return code;
    }

    private int ended(List<String> words) {
        try {
            Arguments arguments = Arguments.parse(words, environment);
            if (arguments.command() == Arguments.Command.HELP) {
                out.println(HELP);
                return DONE;
            }
            if (arguments.command() == Arguments.Command.DOCTOR) {
                return examine(arguments, doctors.apply(arguments));
            }
            LockInspector inspector = stores.apply(arguments);
            try {
                return run(arguments, inspector);
            } finally {
                Object unused =
                        inspector.close().timeout(patience).onErrorComplete().block();
            }
        } catch (UsageException wrong) {
            err.println(Printable.text(String.valueOf(wrong.getMessage())));
            err.println("Try: holdfast help");
            return USAGE;
        } catch (LockException failed) {
            err.println(Printable.text(withoutSecrets(String.valueOf(failed.getMessage()))));
            return FAILED;
        } catch (IllegalArgumentException noName) {
            err.println(Printable.text(String.valueOf(noName.getMessage())));
            return USAGE;
        } catch (RuntimeException unexpected) {
            err.println(
                    isTooLate(unexpected)
                            ? "The back end did not answer for %d s. Check its address, and that its servers run."
                                    .formatted(patience.toSeconds())
                            : Printable.text("Failed: " + unexpected));
            return FAILED;
        }
    }

    private static boolean isTooLate(RuntimeException error) {
        return Exceptions.unwrap(error) instanceof TimeoutException;
    }

    private int run(Arguments arguments, LockInspector inspector) {
        return switch (arguments.command()) {
            case LIST -> list(arguments, inspector);
            case SHOW -> show(arguments, inspector);
            default -> breakHold(arguments, inspector);
        };
    }

    private int examine(Arguments arguments, Doctor doctor) {
        Mono<Void> closed = doctor.close().timeout(patience).onErrorComplete().cache();
        Thread interrupted = new Thread(closed::block, "doctor-close");
        Runtime.getRuntime().addShutdownHook(interrupted); // for Ctrl-C
        try {
            List<Finding> findings = answer(doctor.examine()
                    .map(it -> it.withFound(withoutSecrets(it.found())))
                    .doOnNext(it -> {
                        if (arguments.isJson()) {
                            out.println(Json.of(it));
                        } else {
                            Tables.finding(it).forEach(out::println);
                        }
                    }));
            if (!arguments.isJson()) {
                out.println(Tables.verdict(findings));
            }
            return findings.stream().anyMatch(Tables::isMissing) ? FAILED : DONE;
        } finally {
            closed.block();
        }
    }

    /** A server or a driver may repeat in an error what it was sent. */
    private String withoutSecrets(String found) {
        String password = environment.getOrDefault(Stores.PASSWORD, "");
        return password.isEmpty() ? found : found.replace(password, "(password)");
    }

    /** For a script, prints each lock as soon as it is found, some of them twice: there may be millions. */
    private int list(Arguments arguments, LockInspector inspector) {
        Flux<LockReport> all = inspector.all().timeout(patience);
        if (arguments.isJson()) {
            Object unused = all.doOnNext(lock -> out.println(Json.of(lock)))
                    .takeUntil(lock -> out.checkError())
                    .blockLast();
        } else {
            Tables.list(answer(all.distinct(lock -> List.of(lock.type(), lock.name()))
                            .sort((one, other) -> one.name().compareTo(other.name()))))
                    .forEach(out::println);
        }
        return DONE;
    }

    private static <T> List<T> answer(Flux<T> question) {
        List<T> answer = question.collectList().block();
        return answer == null ? List.of() : answer;
    }

    private List<LockReport> reports(Arguments arguments, LockInspector inspector) {
        return answer(inspector.inspect(arguments.lockName()).timeout(patience));
    }

    private int show(Arguments arguments, LockInspector inspector) {
        List<LockReport> locks = reports(arguments, inspector);
        for (LockReport lock : locks) {
            if (arguments.isJson()) {
                out.println(Json.of(lock));
            } else {
                Tables.show(lock).forEach(out::println);
            }
        }
        if (locks.stream().anyMatch(lock -> lock.isHeld() || lock.waiterCount() > 0)) {
            return DONE;
        }
        err.println((locks.isEmpty()
                        ? "This back end has no lock '%s': no holder, no waiter and no last fencing token."
                        : "No claim holds lock '%s' or waits for it.")
                .formatted(Printable.text(arguments.lockName())));
        return NOTHING_THERE;
    }

    private int breakHold(Arguments arguments, LockInspector inspector) {
        String name = Printable.text(arguments.lockName());
        List<LockHolder> holders = reports(arguments, inspector).stream()
                .flatMap(lock -> lock.holders().stream())
                .toList();
        String claim = arguments.claim();
        LockHolder holder = chosen(holders, claim);
        if (holder == null) {
            err.println(
                    holders.isEmpty() || claim != null
                            ? "Nothing to break: no %s holds lock '%s'."
                                    .formatted(claim == null ? "claim" : "claim " + Printable.start(claim, 100), name)
                            : "%d claims hold lock '%s'. Choose one with --claim ID.".formatted(holders.size(), name));
            holders.forEach(it -> err.println("  %s  %s  token %d"
                    .formatted(Printable.text(it.claimId()), Tables.word(it.kind()), it.fencingToken())));
            return holders.isEmpty() || claim != null ? NOTHING_THERE : USAGE;
        }
        String owner = Tables.owner(holder.owner(), holder.claimId());
        if (!arguments.isConfirmed() && !isConfirmed(name, owner)) {
            err.println("Nothing was changed.");
            return USAGE;
        }
        Boolean isBroken = inspector
                .breakHold(arguments.lockName(), holder)
                .timeout(patience)
                .block();
        if (!Boolean.TRUE.equals(isBroken)) {
            err.println("Nothing to break: %s does not hold lock '%s' any more.".formatted(owner, name));
            return NOTHING_THERE;
        }
        out.println(
                arguments.isJson()
                        ? Json.broken(arguments.lockName(), holder)
                        : "Broken: %s does not hold lock '%s' any more. Its client finds out by its next renewal at the latest."
                                .formatted(owner, name));
        return DONE;
    }

    private static @Nullable LockHolder chosen(List<LockHolder> holders, @Nullable String claim) {
        if (claim != null) {
            return holders.stream()
                    .filter(it -> it.claimId().equals(claim))
                    .findFirst()
                    .orElse(null);
        }
        return holders.size() == 1 ? holders.get(0) : null;
    }

    private boolean isConfirmed(String name, String owner) {
        err.println(
                "Until the client of %s finds out, two clients may work under lock '%s'. Break it? Type yes, or use --yes in a script."
                        .formatted(owner, name));
        try {
            return "yes".equals(in.readLine());
        } catch (IOException unreadable) {
            return false;
        }
    }
}
