----------------------------- MODULE ZooKeeper -----------------------------
(* The queue of one mutex: numbered nodes of sessions, and who holds. A session decides by what it knows of the queue, often without a     *)
(* request. Answers and events come in order, and late. A creation or a list is carried out when it is sent, and a deletion later.         *)
(* A session is believed only while the leader keeps it: Session.tla. README.md says in plain words what this describes.                   *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Sessions, Claims,
  MaxLosses,    \* so often a connection is lost
  MaxDeletions, \* so often the server deletes the empty queue, and its numbers begin again
  Mutant        \* the rule that is switched off, or "none"

VARIABLES
  nodes,    \* server: number, claim, and the transaction that has created the node, which is the token
  next,     \* server: the next number; -1 if there is no queue
  zxid,     \* server: the last transaction
  ended,    \* server: sessions that it has ended
  in,       \* of each session: the answers and events that its client has not read
  st,       \* client: of each claim the phase, the number of its node, and its token
  known,    \* client: of each session, the numbers of other clients' nodes that may be there
  upTo,     \* client: it knows all nodes up to this number; -1 for nothing
  guarded,  \* client: it will be told when the queue is deleted, before later answers
  doubted,  \* client: the session is not believed any more
  top, fell, budget

vars == <<nodes, next, zxid, ended, in, st, known, upTo, guarded, doubted, top, fell, budget>>
server == <<nodes, next, zxid, ended>>
memory == <<known, upTo, guarded>>

Rule(name) == Mutant # name
Of(c) == IF c = "b1" THEN "B" ELSE "A"
Mine(s) == {c \in Claims : Of(c) = s}
HasNode(c) == st[c].ph \in {"waiting", "holding"}
Enters(s) == \E c \in Mine(s) : HasNode(c)
Numbers(s) == {st[c].n : c \in {d \in Mine(s) : HasNode(d)}}

Without(ph) == [ph |-> ph, n |-> -1, token |-> 0]

Init ==
  /\ nodes = {} /\ next = -1 /\ zxid = 0 /\ ended = {} /\ doubted = {} /\ top = 0 /\ fell = FALSE
  /\ in = [s \in Sessions |-> <<>>]
  /\ st = [c \in Claims |-> Without("new")]
  /\ known = [s \in Sessions |-> {}] /\ upTo = [s \in Sessions |-> -1] /\ guarded = [s \in Sessions |-> FALSE]
  /\ budget = [losses |-> MaxLosses, deletions |-> MaxDeletions]

\* An answer or an event: to a creation with the number and the token; to a list with the nodes, and the number up to which it has all
Says(s, t, c, n, token, names) == in' = [in EXCEPT ![s] = Append(@, [t |-> t, c |-> c, n |-> n, token |-> token, names |-> names])]
Lists(s, n) == Says(s, "list", "", n, 0, nodes)
Greatest(these) == CHOOSE n \in these : \A m \in these : m <= n
LastNumber(s) == IF Enters(s) THEN Greatest(Numbers(s)) ELSE -1

-----------------------------------------------------------------------------
\* The server.

Deletes(c) ==
  /\ st[c].ph = "leaving" /\ \E x \in nodes : x.c = c
  /\ nodes' = {x \in nodes : x.c # c} /\ zxid' = zxid + 1
  /\ UNCHANGED <<next, ended, in, st, memory, doubted, top, fell, budget>>

\* The leader ends a session that its client does not believe any more.
EndsSession(s) ==
  /\ s \notin ended /\ (s \in doubted \/ ~Rule("a session ends at the server when its client doubts it"))
  /\ ended' = ended \cup {s} /\ nodes' = {x \in nodes : Of(x.c) # s}
  /\ UNCHANGED <<next, zxid, in, st, memory, doubted, top, fell, budget>>

\* A container without nodes is deleted. Sessions that watch it are told.
DeletesQueue ==
  /\ next # -1 /\ nodes = {} /\ budget.deletions > 0
  /\ next' = -1 /\ budget' = [budget EXCEPT !.deletions = @ - 1]
  /\ in' = [s \in Sessions |-> IF guarded[s] THEN Append(in[s], [t |-> "deleted", c |-> "", n |-> 0, token |-> 0, names |-> {}]) ELSE in[s]]
  /\ UNCHANGED <<nodes, zxid, ended, st, memory, doubted, top, fell>>

-----------------------------------------------------------------------------
\* The clients.

Client(s) == s \notin doubted /\ UNCHANGED doubted
Forgets(s) == known' = [known EXCEPT ![s] = {}] /\ upTo' = [upTo EXCEPT ![s] = -1]

Asks(c) ==
  LET number == IF next = -1 THEN 0 ELSE next IN
  /\ Client(Of(c)) /\ Of(c) \notin ended /\ st[c].ph = "new"
  /\ nodes' = nodes \cup {[n |-> number, c |-> c, token |-> zxid + 1]}
  /\ next' = number + 1 /\ zxid' = zxid + 1
  /\ Says(Of(c), "create", c, number, zxid + 1, {})
  /\ st' = [st EXCEPT ![c].ph = "entering"]
  /\ UNCHANGED <<ended, memory, top, fell, budget>>

\* The numbers surely have not begun again: a node of the session is in the queue, or it would have been told.
IsContinuous(s) == upTo[s] # -1 /\ (guarded[s] \/ Enters(s) \/ ~Rule("numbers count while the queue is the same"))

\* It has the next number: no other client came in between. Otherwise a list will show who is in front.
GetsNode(s, a) ==
  LET isNext == a.n = upTo[s] + 1
      continuous == IsContinuous(s)
  IN
  /\ a.t = "create"
  /\ st' = [st EXCEPT ![a.c] = IF @.ph = "entering" THEN [ph |-> "waiting", n |-> a.n, token |-> a.token] ELSE @]
  /\ IF continuous /\ isNext
     THEN upTo' = [upTo EXCEPT ![s] = a.n] /\ UNCHANGED known
     ELSE IF ~continuous \/ a.n <= upTo[s] THEN Forgets(s) ELSE UNCHANGED <<known, upTo>>
  /\ UNCHANGED guarded

\* A list that was read after a creation has every node with a lower number. It also shows the nodes that are gone.
GetsList(s, a) ==
  LET names == {x.n : x \in {y \in a.names : Of(y.c) # s}}
      lost == {c \in Mine(s) : HasNode(c) /\ st[c].n <= a.n /\ \A x \in a.names : x.c # c}
      found(c) == {x \in a.names : x.c = c}
  IN
  /\ a.t = "list"
  /\ known' = [known EXCEPT ![s] = {n \in @ : n > a.n} \cup {n \in names : n <= a.n}]
  /\ upTo' = [upTo EXCEPT ![s] = IF a.n > @ THEN a.n ELSE @]
  \* After a lost connection, it finds its own node by the name; without one, it creates it again.
  /\ st' = [c \in Claims |-> IF c \in lost THEN Without("over")
                             ELSE IF c \in Mine(s) /\ st[c].ph = "searching"
                             THEN IF found(c) = {} THEN Without("new")
                                  ELSE LET x == CHOOSE y \in found(c) : TRUE IN [ph |-> "waiting", n |-> x.n, token |-> x.token]
                             ELSE st[c]]
  /\ UNCHANGED guarded

IsTold(s, a) == a.t = "deleted" /\ Forgets(s) /\ guarded' = [guarded EXCEPT ![s] = FALSE] /\ UNCHANGED st

Hears(s) ==
  /\ Client(s) /\ in[s] # <<>>
  /\ LET a == Head(in[s]) IN GetsNode(s, a) \/ GetsList(s, a) \/ IsTold(s, a)
  /\ in' = [in EXCEPT ![s] = Tail(@)] /\ UNCHANGED <<server, top, fell, budget>>

\* It does not know who is in front, or a watch has told of a change. One list is under way.
LooksAgain(s) ==
  /\ Client(s) /\ Enters(s) /\ \A k \in DOMAIN in[s] : in[s][k].t # "list"
  /\ LastNumber(s) > upTo[s] \/ known[s] \ {x.n : x \in nodes} # {}
  /\ Lists(s, LastNumber(s))
  /\ UNCHANGED <<server, st, memory, top, fell, budget>>

\* While a node of the session is there, it sets a watch on the queue.
Guards(s) ==
  /\ Client(s) /\ ~guarded[s] /\ upTo[s] # -1 /\ Enters(s) /\ MaxDeletions > 0
  /\ guarded' = [guarded EXCEPT ![s] = TRUE] /\ UNCHANGED <<server, in, st, known, upTo, top, fell, budget>>

\* Nodes of its own whose claims have ended do not count, although the server may still have them.
IsFirst(c) ==
  LET s == Of(c) IN
  /\ st[c].n <= upTo[s] \/ ~Rule("all nodes in front are known")
  /\ \A n \in known[s] : n > st[c].n
  /\ \A d \in Mine(s) : HasNode(d) /\ (st[d].ph = "holding" => Rule("a holder of the same session counts")) => st[d].n >= st[c].n

Holds(c) ==
  /\ Client(Of(c)) /\ st[c].ph = "waiting" /\ IsFirst(c)
  /\ st' = [st EXCEPT ![c].ph = "holding"]
  /\ top' = IF st[c].token > top THEN st[c].token ELSE top
  /\ fell' = (fell \/ st[c].token <= top)
  /\ UNCHANGED <<server, in, memory, budget>>

\* A release, or a withdrawal. It is repeated until the node is gone.
Leaves(c) ==
  /\ Client(Of(c)) /\ HasNode(c)
  /\ st' = [st EXCEPT ![c] = Without("leaving")]
  /\ UNCHANGED <<server, in, memory, top, fell, budget>>

\* The answers under way are lost. It forgets what it knew, and lists the queue.
LosesConnection(s) ==
  LET searching == {c \in Mine(s) : st[c].ph = "entering"} IN
  /\ Client(s) /\ budget.losses > 0
  /\ budget' = [budget EXCEPT !.losses = @ - 1]
  /\ in' = [in EXCEPT ![s] = IF searching = {} THEN <<>> ELSE <<[t |-> "list", c |-> "", n |-> LastNumber(s), token |-> 0, names |-> nodes]>>]
  /\ st' = [c \in Claims |-> IF c \in searching THEN Without("searching") ELSE st[c]]
  /\ guarded' = [guarded EXCEPT ![s] = FALSE]
  /\ Forgets(s)
  /\ UNCHANGED <<server, top, fell>>

\* Its claims are lost.
Doubts(s) ==
  /\ s \notin doubted /\ doubted' = doubted \cup {s}
  /\ st' = [c \in Claims |-> IF Of(c) = s THEN Without("over") ELSE st[c]]
  /\ in' = [in EXCEPT ![s] = <<>>] /\ Forgets(s) /\ guarded' = [guarded EXCEPT ![s] = FALSE]
  /\ UNCHANGED <<server, top, fell, budget>>

Next ==
  \/ DeletesQueue
  \/ \E s \in Sessions : EndsSession(s) \/ Hears(s) \/ LooksAgain(s) \/ Guards(s) \/ LosesConnection(s) \/ Doubts(s)
  \/ \E c \in Claims : Asks(c) \/ Holds(c) \/ Leaves(c) \/ Deletes(c)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* The promises.

Holders == {c \in Claims : st[c].ph = "holding"}
OneBeliever == Cardinality(Holders) <= 1
TokensRise == ~fell
\* Each node in front of a holder is of a claim that has ended.
FirstComeFirstServed == \A c \in Holders : \A x \in nodes : x.token < st[c].token => ~(st[x.c].ph \in {"waiting", "holding"})
=============================================================================
