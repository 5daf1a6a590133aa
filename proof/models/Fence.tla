------------------------------- MODULE Fence -------------------------------
(* The rows of a lock in a SQL database, and the fence: the check of a lease in the transaction that writes the data.      *)
(* README.md says in plain words what this describes. Each rule can be switched off by its name: the constant Mutant.       *)
EXTENDS Naturals, Sequences

CONSTANTS
  Claims,     \* each sends attempts, and is released at last
  Txs,        \* transactions of applications, fenced by a lease
  MaxTokens,  \* grants, and the highest time of the clock
  MaxAsks,    \* attempts of one claim
  MaySave, MayPrepare, MayRead, MayShare, MaySweep,  \* what a schedule may do besides
  Mutant      \* the rule that is switched off, or "none"

VARIABLES
  clock,      \* of the server
  last,       \* the last token in the row of the lock; 0 if the row is deleted
  leases,     \* of all grants that are committed: claim, token, mode, state and the commits of data before
  asked,      \* attempts that each claim has sent
  underWay,   \* attempts that may still arrive, as a bag: the number of each claim
  executing,  \* the attempt whose transaction is not committed: its claim and mode; or Nobody. It has locked the row
  traces,     \* claims with a tombstone
  released,   \* claims whose release was answered
  tx,         \* the transactions
  commits,    \* committed writes of fenced transactions, in their order
  late,       \* whether a transaction has committed although a later lease was granted
  stale       \* whether a checked transaction reads data from before the grant of its lease

vars == <<clock, last, leases, asked, underWay, executing, traces, released, tx, commits, late, stale>>

Rule(name) == Mutant # name
Nobody == [claim |-> "", mode |-> ""]
Idle == [state |-> "idle", token |-> 0, mode |-> "", saved |-> FALSE, checkedInside |-> FALSE, locks |-> FALSE,
         snapshot |-> 0, heldThen |-> {}]
Modes == IF MayShare THEN {"write", "read"} ELSE {"write"}
Max(a, b) == IF a > b THEN a ELSE b

Init ==
  /\ clock = 1 /\ last = 0 /\ leases = {} /\ executing = Nobody /\ traces = {} /\ released = {}
  /\ asked = [c \in Claims |-> 0] /\ underWay = [c \in Claims |-> 0]
  /\ tx = [x \in Txs |-> Idle] /\ commits = <<>> /\ late = FALSE /\ stale = FALSE

Held == {l \in leases : l.state = "held"}
Of(c) == {l \in Held : l.claim = c}
Highest == IF leases = {} THEN 0 ELSE CHOOSE t \in {l.token : l \in leases} : \A l \in leases : l.token <= t
\* The locks on the fence that stop a grant: a reader waits for writers only.
Stops(mode) == {x \in Txs : tx[x].locks /\ (mode = "write" \/ tx[x].mode = "write")}

---------------------------------------------------------------------------
\* The rows. An attempt or a release is one transaction, which locks the row of the lock.

Ask(c) ==
  /\ asked[c] < MaxAsks /\ c \notin released
  /\ asked' = [asked EXCEPT ![c] = @ + 1] /\ underWay' = [underWay EXCEPT ![c] = @ + 1]
  /\ UNCHANGED <<clock, last, leases, executing, traces, released, tx, commits, late, stale>>

IsFree(mode) ==
  /\ \A l \in Held : mode = "read" /\ l.mode = "read"
  /\ Stops(mode) = {} \/ ~Rule("a grant waits for the fence")

\* It has read what it needs, and will commit a grant. An attempt that arrives and gets nothing is a message that is lost.
Executes(c, mode) ==
  /\ underWay[c] > 0 /\ executing = Nobody
  /\ c \notin traces
  /\ Of(c) = {} \/ ~Rule("a holder that asks again gets its lease again")
  /\ IsFree(mode) \/ (Of(c) # {} /\ ~Rule("a holder that asks again gets its lease again"))
  /\ underWay' = [underWay EXCEPT ![c] = @ - 1] /\ executing' = [claim |-> c, mode |-> mode]
  /\ UNCHANGED <<clock, last, leases, asked, traces, released, tx, commits, late, stale>>

IsLost(c) ==
  /\ underWay[c] > 0 /\ underWay' = [underWay EXCEPT ![c] = @ - 1]
  /\ UNCHANGED <<clock, last, leases, asked, executing, traces, released, tx, commits, late, stale>>

Commits ==
  LET token == Max(last + 1, clock) IN
  /\ executing # Nobody /\ token <= MaxTokens
  /\ leases' = leases \union {[claim |-> executing.claim, token |-> token, mode |-> executing.mode, was |-> executing.mode,
                               state |-> "held", base |-> Len(commits)]}
  /\ last' = token /\ executing' = Nobody
  /\ UNCHANGED <<clock, asked, underWay, traces, released, tx, commits, late, stale>>

RollsBack ==
  /\ executing # Nobody /\ executing' = Nobody
  /\ UNCHANGED <<clock, last, leases, asked, underWay, traces, released, tx, commits, late, stale>>

Over(which) == {IF l \in which THEN [l EXCEPT !.state = "over"] ELSE l : l \in leases}

\* While an attempt of the claim is unanswered, the row may not be visible yet. The release waits for it.
Releases(c) ==
  /\ c \notin released /\ asked[c] > 0
  /\ executing = Nobody \/ ~Rule("a release waits for the commit of an attempt")
  /\ leases' = Over(Of(c)) /\ released' = released \union {c}
  /\ traces' = IF Rule("a release leaves a trace") THEN traces \union {c} ELSE traces
  /\ UNCHANGED <<clock, last, asked, underWay, executing, tx, commits, late, stale>>

\* Time passes, whatever is locked.
Expires(l) ==
  /\ l \in Held /\ leases' = Over({l})
  /\ UNCHANGED <<clock, last, asked, underWay, executing, traces, released, tx, commits, late, stale>>

\* If a transaction has locked the fence of the writer, readers wait for its end.
Downgrades(l) ==
  /\ MayShare /\ l \in Held /\ l.mode = "write" /\ executing = Nobody
  /\ leases' = (leases \ {l}) \union {[l EXCEPT !.mode = "read"]}
  /\ UNCHANGED <<clock, last, asked, underWay, executing, traces, released, tx, commits, late, stale>>

Ticks ==
  /\ clock < MaxTokens /\ clock' = clock + 1
  /\ UNCHANGED <<last, leases, asked, underWay, executing, traces, released, tx, commits, late, stale>>

\* The next token is then the time.
Sweeps ==
  /\ MaySweep /\ Held = {} /\ executing = Nobody /\ last > 0
  /\ \A x \in Txs : ~tx[x].locks
  /\ last < clock \/ ~Rule("a row is deleted when the clock has passed its token")
  /\ last' = 0
  /\ UNCHANGED <<clock, leases, asked, underWay, executing, traces, released, tx, commits, late, stale>>

---------------------------------------------------------------------------
\* The transactions of applications. When one of them checks a lease, it may be over, or be another one after a downgrade.

Step(x, new) == /\ tx' = [tx EXCEPT ![x] = new]
                /\ UNCHANGED <<clock, last, leases, asked, underWay, executing, traces, released>>
Same == UNCHANGED <<commits, late, stale>>

Begins(x) == tx[x].state = "idle" /\ Step(x, [Idle EXCEPT !.state = "open"]) /\ Same

\* Its first read fixes what the transaction sees. 0: it has read nothing.
Reads(x) ==
  /\ MayRead /\ tx[x].state = "open" /\ tx[x].snapshot = 0
  /\ Step(x, [tx[x] EXCEPT !.snapshot = Len(commits) + 1, !.heldThen = {l.token : l \in Held}]) /\ Same

Saves(x) == /\ MaySave /\ tx[x].state = "open" /\ ~tx[x].saved /\ Step(x, [tx[x] EXCEPT !.saved = TRUE]) /\ Same

IsValid(x, l, mode) ==
  /\ IF tx[x].snapshot > 0 /\ ~Rule("the check reads the present row") THEN l.token \in tx[x].heldThen
     ELSE l.state = "held" \/ ~Rule("the check fails for a lease that is over")
  /\ l.mode = mode \/ ~Rule("the check of a writer fails after its downgrade")
  /\ tx[x].snapshot = 0 \/ tx[x].snapshot > l.base \/ ~Rule("the check reads the snapshot too")
  /\ ~tx[x].saved \/ ~Rule("the check fails inside a savepoint")

\* A check that fails ends the transaction. It waits for a grant that is not committed: that one has locked the fence.
Checks(x, l, mode) ==
  /\ tx[x].state = "open" /\ executing = Nobody
  /\ Step(x, IF IsValid(x, l, mode)
             THEN [tx[x] EXCEPT !.state = "checked", !.token = l.token, !.mode = mode, !.locks = TRUE, !.checkedInside = tx[x].saved]
             ELSE [Idle EXCEPT !.state = "over"])
  /\ stale' = (stale \/ (IsValid(x, l, mode) /\ tx[x].snapshot > 0 /\ tx[x].snapshot <= l.base))
  /\ UNCHANGED <<commits, late>>

\* A rollback to the savepoint unlocks what was locked behind it. The transaction goes on.
RollsBackToSavepoint(x) ==
  /\ tx[x].state = "checked" /\ tx[x].saved
  /\ Step(x, [tx[x] EXCEPT !.saved = FALSE, !.locks = @ /\ ~tx[x].checkedInside]) /\ Same

\* XA PREPARE unlocks the rows that the transaction has only read.
Prepares(x) ==
  /\ MayPrepare /\ tx[x].state = "checked"
  /\ Step(x, [tx[x] EXCEPT !.state = "prepared", !.locks = @ /\ Rule("a check for XA changes the row")]) /\ Same

\* A writer is late behind any later lease, a reader behind a later writer.
IsLate(x) == \E l \in leases : l.token > tx[x].token /\ (tx[x].mode = "write" \/ l.was = "write")

CommitsData(x) ==
  /\ tx[x].state \in {"checked", "prepared"}
  /\ late' = (late \/ IsLate(x)) /\ commits' = Append(commits, tx[x].token)
  /\ Step(x, [Idle EXCEPT !.state = "over"]) /\ UNCHANGED stale

Aborts(x) == /\ tx[x].state \in {"open", "checked", "prepared"} /\ Step(x, [Idle EXCEPT !.state = "over"]) /\ Same

Next ==
  \/ \E c \in Claims : Ask(c) \/ IsLost(c) \/ Releases(c) \/ \E m \in Modes : Executes(c, m)
  \/ Commits \/ RollsBack \/ Ticks \/ Sweeps
  \/ \E l \in leases : Expires(l) \/ Downgrades(l)
  \/ \E x \in Txs :
       \/ Begins(x) \/ Reads(x) \/ Saves(x) \/ RollsBackToSavepoint(x) \/ Prepares(x) \/ CommitsData(x) \/ Aborts(x)
       \/ \E l \in leases : Checks(x, l, l.was) \/ Checks(x, l, l.mode)

Spec == Init /\ [][Next]_vars

---------------------------------------------------------------------------
\* The promises.

OneBeliever == \A a, b \in Held : a = b \/ (a.mode = "read" /\ b.mode = "read")
TokensRise == \A a, b \in leases : a.token = b.token => a = b
NoLaterToken == last = 0 \/ last = Highest
NoLateCommit == ~late
NoStaleRead == ~stale
NoGhost == \A l \in Held : l.claim \notin released
FencedByAHeldLease == \A x \in Txs : tx[x].state = "checked" => tx[x].locks
=============================================================================
