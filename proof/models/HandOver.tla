----------------------------- MODULE HandOver ------------------------------
(* LocalHandOver: the claims of one process share a claim at the store, a turn, and pass the lock on among themselves. Each owner has a    *)
(* token of its own, from a block that the store has reserved. README.md says in plain words what this describes.                          *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
  Claims,      \* of the process
  Most,        \* hand-overs of one turn
  MaxTurns, MaxOthers, MaxEnds,
  Mutant       \* the rule that is switched off, or "none"

VARIABLES
  holder, last,   \* store: a turn, "other" or "none", and the last token
  msgs,           \* each is processed once, late or never
  line,           \* process: the claims that wait, in their order
  turn,           \* process: the present turn: its number, phase, token, the last token of its block, hand-overs
  owner,          \* process: the claim that has the lock
  over,           \* process: turns of which it knows by its clock that their lease is over
  others,         \* how many other clients got the lock
  came, top, fell \* history: claims that came; the highest token of an owner; whether one began with a lower one

vars == <<holder, last, msgs, line, turn, owner, over, others, came, top, fell>>
Rule(name) == Mutant # name
Idle == [n |-> turn.n, ph |-> "idle", token |-> 0, block |-> 0, passed |-> 0]
Msg(t, n, token) == [t |-> t, n |-> n, token |-> token]
Owns(token) == top' = token /\ fell' = (fell \/ token <= top)
NoNew == UNCHANGED <<top, fell>>

Init ==
  /\ holder = "none" /\ last = 0 /\ msgs = {} /\ line = <<>> /\ owner = "none" /\ over = {} /\ others = 0
  /\ turn = [n |-> 0, ph |-> "idle", token |-> 0, block |-> 0, passed |-> 0] /\ came = {} /\ top = 0 /\ fell = FALSE

-----------------------------------------------------------------------------
\* The store.

StoreGrants(m) ==
  /\ m.t = "ask" /\ holder = "none" /\ holder' = ToString(m.n) /\ last' = last + 1
  /\ msgs' = (msgs \ {m}) \cup {Msg("grant", m.n, last + 1)}
  /\ UNCHANGED <<line, turn, owner, over, others, came>> /\ NoNew

\* The attempt of a holder with a higher floor raises the last token.
StoreReserves(m) ==
  /\ m.t = "reserve" /\ holder = ToString(m.n)
  /\ last' = IF m.token > last THEN m.token ELSE last
  /\ msgs' = (msgs \ {m}) \cup {Msg("reserved", m.n, m.token)}
  /\ UNCHANGED <<holder, line, turn, owner, over, others, came>> /\ NoNew

StoreReleases(m) ==
  /\ m.t = "release" /\ msgs' = {x \in msgs : x.n # m.n}
  /\ holder' = IF holder = ToString(m.n) THEN "none" ELSE holder
  /\ UNCHANGED <<last, line, turn, owner, over, others, came>> /\ NoNew

\* The process knows it before, by its clock.
StoreExpires ==
  /\ \E n \in 1 .. MaxTurns : holder = ToString(n) /\ (n \in over \/ ~Rule("a lease ends at the process first"))
  /\ holder' = "none" /\ UNCHANGED <<last, msgs, line, turn, owner, over, others, came>> /\ NoNew

OtherOwns ==
  /\ holder = "none" /\ others < MaxOthers /\ holder' = "other" /\ others' = others + 1 /\ last' = last + 1 /\ Owns(last + 1)
  /\ UNCHANGED <<msgs, line, turn, owner, over, came>>
OtherReleases == holder = "other" /\ holder' = "none" /\ UNCHANGED <<last, msgs, line, turn, owner, over, others, came>> /\ NoNew

-----------------------------------------------------------------------------
\* The process.

Same == UNCHANGED <<holder, last, others>>
Comes(c) == c \notin came /\ came' = came \cup {c} /\ line' = Append(line, c) /\ UNCHANGED <<msgs, turn, owner, over>> /\ Same /\ NoNew

Asks ==
  /\ turn.ph = "idle" /\ line # <<>> /\ turn.n < MaxTurns
  /\ turn' = [Idle EXCEPT !.n = turn.n + 1, !.ph = "asking"] /\ msgs' = msgs \cup {Msg("ask", turn.n + 1, 0)}
  /\ UNCHANGED <<line, owner, over, came>> /\ Same /\ NoNew

Begins(m) ==
  /\ m.t = "grant" /\ m.n = turn.n /\ turn.ph = "asking" /\ m.n \notin over /\ line # <<>>
  /\ owner' = Head(line) /\ line' = Tail(line) /\ Owns(m.token)
  /\ turn' = [turn EXCEPT !.ph = "held", !.token = m.token, !.block = m.token]
  /\ msgs' = (msgs \ {m}) \cup {Msg("reserve", m.n, m.token + Most)}
  /\ UNCHANGED <<over, came>> /\ Same

GetsBlock(m) ==
  /\ m.t = "reserved" /\ m.n = turn.n /\ turn.ph = "held" /\ turn' = [turn EXCEPT !.block = m.token] /\ msgs' = msgs \ {m}
  /\ UNCHANGED <<line, owner, over, came>> /\ Same /\ NoNew

MayHandOver ==
  /\ line # <<>>
  /\ turn.n \notin over \/ ~Rule("a turn that is over hands nothing over")
  /\ turn.token < turn.block \/ ~Rule("each owner has a token that the store has reserved")

HandsOver ==
  /\ turn.ph = "held" /\ MayHandOver
  /\ owner' = Head(line) /\ line' = Tail(line) /\ turn' = [turn EXCEPT !.token = @ + 1, !.passed = @ + 1] /\ Owns(turn.token + 1)
  /\ UNCHANGED <<msgs, over, came>> /\ Same

\* The owner has released, or its lease is over. While the block is reserved, the process may wait.
EndsTurn ==
  /\ turn.ph = "held" /\ owner' = "none" /\ turn' = Idle
  /\ msgs' = msgs \cup {Msg("release", turn.n, 0)}
  /\ UNCHANGED <<line, over, came>> /\ Same /\ NoNew

\* Its owner loses the lock.
LeaseIsOver ==
  /\ turn.ph # "idle" /\ turn.n \notin over /\ Cardinality(over) < MaxEnds
  /\ over' = over \cup {turn.n} /\ owner' = "none"
  /\ IF Rule("a turn that is over hands nothing over") \/ turn.ph = "asking"
     THEN turn' = Idle /\ msgs' = msgs \cup {Msg("release", turn.n, 0)} ELSE UNCHANGED <<turn, msgs>>
  /\ UNCHANGED <<line, came>> /\ Same /\ NoNew

Next ==
  \/ \E m \in msgs : StoreGrants(m) \/ StoreReserves(m) \/ StoreReleases(m) \/ Begins(m) \/ GetsBlock(m)
  \/ StoreExpires \/ OtherOwns \/ OtherReleases
  \/ Asks \/ HandsOver \/ EndsTurn \/ LeaseIsOver \/ \E c \in Claims : Comes(c)
Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* The promises.

OneBeliever == owner = "none" \/ holder # "other"
TokensRise == ~fell
\* The block of its tokens is the bound of a turn.
IsBounded == turn.passed <= Most
=============================================================================
