%% SPDX-License-Identifier: MIT
%%
%% Eight programs of the Savina suite, from their descriptions.
-module(savina).
-export([philosophers/0, bank/0, sieve/0, buffer/0, smokers/0, dictionary/0,
	 radix/0, logmap/0]).

-define(PHILOSOPHERS, 20).
-define(PHILOSOPHERS_MEALS, 10000).
-define(BANK_ACCOUNTS, 1000).
-define(BANK_TRANSFERS, 100000).
-define(BANK_START, 1000000).
-define(SIEVE_NUMBERS, 100000).
-define(SIEVE_PRIMES, 100).
-define(BUFFER_ENDS, 40).
-define(BUFFER_SLOTS, 50).
-define(BUFFER_ITEMS, 5000).
-define(SMOKERS, 200).
-define(SMOKERS_ROUNDS, 500000).
-define(DICTIONARY_WORKERS, 20).
-define(DICTIONARY_ASKS, 20000).
-define(DICTIONARY_KEYS, 4096).
-define(RADIX_BITS, 20).
-define(RADIX_NUMBERS, 50000).
-define(LOGMAP_SERIES, 10).
-define(LOGMAP_TERMS, 25000).

%% As in actors.erl.
-define(LONG_QUEUE, [link, {message_queue_data, off_heap}]).

%% Sends Request to Pid and waits for the reply.
call(Pid, Request) ->
    Ref = make_ref(),
    Pid ! {call, self(), Ref, Request},
    receive {Ref, Reply} -> Reply end.

%% ---- philosophers ---------------------------------------------------------------

philosophers() ->
    bench:run(fun dinner/1, ?PHILOSOPHERS_MEALS, ?PHILOSOPHERS).

%% The calling process is the arbitrator.
dinner(Meals) ->
    Me = self(),
    [spawn_link(fun() -> philosopher(Me, I, Meals) end)
     || I <- lists:seq(0, ?PHILOSOPHERS - 1)],
    Eaten = arbitrate(0, ?PHILOSOPHERS, 0),
    bench:check(Eaten =:= Meals * ?PHILOSOPHERS, meals).

philosopher(Arbitrator, _, 0) -> Arbitrator ! full;
philosopher(Arbitrator, I, Meals) ->
    Arbitrator ! {hungry, self(), I},
    receive
	denied -> philosopher(Arbitrator, I, Meals);
	eat ->
	    Arbitrator ! {done, I},
	    philosopher(Arbitrator, I, Meals - 1)
    end.

%% Forks is a set of bits, those that are taken.
arbitrate(Forks, 0, Eaten) -> bench:check(Forks =:= 0, forks), Eaten;
arbitrate(Forks, Guests, Eaten) ->
    receive
	{hungry, Pid, I} ->
	    Mine = forks(I),
	    case Forks band Mine of
		0 -> Pid ! eat, arbitrate(Forks bor Mine, Guests, Eaten);
		_ -> Pid ! denied, arbitrate(Forks, Guests, Eaten)
	    end;
	{done, I} -> arbitrate(Forks bxor forks(I), Guests, Eaten + 1);
	full -> arbitrate(Forks, Guests - 1, Eaten)
    end.

forks(I) -> (1 bsl I) bor (1 bsl ((I + 1) rem ?PHILOSOPHERS)).

%% ---- bank -----------------------------------------------------------------------

bank() -> bench:run(fun bank/1, ?BANK_TRANSFERS, 1).

bank(Transfers) ->
    Accounts = list_to_tuple([spawn_opt(fun() -> account(?BANK_START) end,
					?LONG_QUEUE)
			      || _ <- lists:seq(1, ?BANK_ACCOUNTS)]),
    order(Accounts, Transfers, 1),
    [receive moved -> ok end || _ <- lists:seq(1, Transfers)],
    Sum = lists:sum([call(Pid, close) || Pid <- tuple_to_list(Accounts)]),
    bench:check(Sum =:= ?BANK_ACCOUNTS * ?BANK_START, balance).

%% From one account to one of a higher number: nobody waits in a circle.
order(_, 0, _) -> ok;
order(Accounts, Left, Seed) ->
    A = bench:random(Seed),
    B = bench:random(A),
    From = A rem (?BANK_ACCOUNTS - 1),
    To = From + 1 + B rem (?BANK_ACCOUNTS - 1 - From),
    element(From + 1, Accounts) !
	{move, self(), element(To + 1, Accounts), 1 + B rem 100},
    order(Accounts, Left - 1, B).

account(Balance) ->
    receive
	{move, Teller, To, Amount} ->
	    ok = call(To, {credit, Amount}),
	    Teller ! moved,
	    account(Balance - Amount);
	{call, From, Ref, {credit, Amount}} ->
	    From ! {Ref, ok},
	    account(Balance + Amount);
	{call, From, Ref, close} ->
	    From ! {Ref, Balance}
    end.

%% ---- sieve ----------------------------------------------------------------------

sieve() ->
    Nr = bench:size(?SIEVE_NUMBERS),
    persistent_term:put(primes, {primes(max(1, Nr div 10)), primes(Nr)}),
    bench:run(fun sieve/1, ?SIEVE_NUMBERS, 1).

%% How many primes are below N: to check with.
primes(N) -> length([P || P <- lists:seq(2, N - 1), is_prime(P, 2)]).

is_prime(P, D) when D * D > P -> true;
is_prime(P, D) when P rem D =:= 0 -> false;
is_prime(P, D) -> is_prime(P, D + 1).

sieve(N) ->
    Me = self(),
    First = spawn_link(fun() -> filter([2], 1, Me) end),
    numbers(First, 3, N),
    First ! {stop, 0},
    {Few, Many} = persistent_term:get(primes),
    receive Nr ->
	bench:check(Nr =:= max(1, Few) orelse Nr =:= Many, primes)
    end.

numbers(First, I, N) when I < N -> First ! I, numbers(First, I + 2, N);
numbers(_, _, _) -> ok.

%% Keeps the first primes that come.
filter(Primes, ?SIEVE_PRIMES, Root) ->
    full(Primes, none, Root);
filter(Primes, Nr, Root) ->
    receive
	{stop, Before} -> Root ! Before + Nr;
	I ->
	    case divides(Primes, I) of
		true -> filter(Primes, Nr, Root);
		false -> filter(Primes ++ [I], Nr + 1, Root)
	    end
    end.

full(Primes, Next, Root) ->
    receive
	{stop, Before} when Next =:= none -> Root ! Before + ?SIEVE_PRIMES;
	{stop, Before} -> Next ! {stop, Before + ?SIEVE_PRIMES};
	I ->
	    case divides(Primes, I) of
		true -> full(Primes, Next, Root);
		false when Next =:= none ->
		    New = spawn_link(fun() -> filter([I], 1, Root) end),
		    full(Primes, New, Root);
		false -> Next ! I, full(Primes, Next, Root)
	    end
    end.

divides([P | _], I) when I rem P =:= 0 -> true;
divides([_ | Primes], I) -> divides(Primes, I);
divides([], _) -> false.

%% ---- buffer ---------------------------------------------------------------------

buffer() -> bench:run(fun buffer/1, ?BUFFER_ITEMS, ?BUFFER_ENDS).

%% The calling process is the buffer.
buffer(Items) ->
    Me = self(),
    Ends = lists:seq(1, ?BUFFER_ENDS),
    Producers = [spawn_link(fun() -> producer(Me, I, Items) end) || I <- Ends],
    [spawn_link(fun() -> consumer(Me, 0) end) || _ <- Ends],
    [Pid ! produce || Pid <- Producers],
    Nr = ?BUFFER_ENDS * Items,
    store(queue:new(), 0, [], [], Nr, Nr),
    Sum = lists:sum([receive {sum, Sum} -> Sum end || _ <- Ends]),
    Right = lists:sum([item_sum(I, Items, 0) || I <- Ends]),
    bench:check(Sum =:= Right, items).

item_sum(_, 0, Sum) -> Sum;
item_sum(Seed, Left, Sum) ->
    Item = bench:random(Seed),
    item_sum(Item, Left - 1, Sum + Item).

producer(_, _, 0) -> ok;
producer(Buffer, Seed, Left) ->
    receive produce -> ok end,
    Item = bench:random(Seed),
    Buffer ! {item, self(), Item},
    producer(Buffer, Item, Left - 1).

consumer(Buffer, Sum) ->
    Buffer ! {ready, self()},
    receive
	{item, Item} -> consumer(Buffer, Sum + Item);
	stop -> Buffer ! {sum, Sum}
    end.

%% Items in the buffer, their number, who waits to produce and to consume, and
%% how many items are still to come and to go.
store(_, 0, _, Ready, 0, 0) ->
    [Pid ! stop || Pid <- Ready],
    [receive {ready, Pid} -> Pid ! stop end
     || _ <- lists:seq(length(Ready) + 1, ?BUFFER_ENDS)];
store(Queue, Nr, Full, Ready, Come, Go) ->
    receive
	{item, From, Item} when Ready =/= [] ->
	    [Pid | Others] = Ready,
	    Pid ! {item, Item},
	    From ! produce,
	    store(Queue, Nr, Full, Others, Come - 1, Go - 1);
	{item, From, Item} ->
	    Longer = queue:in(Item, Queue),
	    case Nr + 1 < ?BUFFER_SLOTS - ?BUFFER_ENDS of
		true ->
		    From ! produce,
		    store(Longer, Nr + 1, Full, Ready, Come - 1, Go);
		false ->
		    store(Longer, Nr + 1, [From | Full], Ready, Come - 1, Go)
	    end;
	{ready, Pid} when Nr =:= 0 ->
	    store(Queue, 0, Full, [Pid | Ready], Come, Go);
	{ready, Pid} ->
	    {{value, Item}, Shorter} = queue:out(Queue),
	    Pid ! {item, Item},
	    case Full of
		[] -> store(Shorter, Nr - 1, [], Ready, Come, Go - 1);
		[Producer | Others] ->
		    Producer ! produce,
		    store(Shorter, Nr - 1, Others, Ready, Come, Go - 1)
	    end
    end.

%% ---- smokers --------------------------------------------------------------------

smokers() -> bench:run(fun smoke/1, ?SMOKERS_ROUNDS, 1).

%% The calling process is the arbiter.
smoke(Rounds) ->
    Me = self(),
    Smokers = list_to_tuple([spawn_link(fun() -> smoker(Me, I, 0) end)
			     || I <- lists:seq(1, ?SMOKERS)]),
    choose(Smokers, 1, Rounds),
    [Pid ! stop || Pid <- tuple_to_list(Smokers)],
    Sum = lists:sum([receive {smoked, Nr} -> Nr end
		     || _ <- lists:seq(1, ?SMOKERS)]),
    bench:check(Sum =:= Rounds, rounds).

choose(_, _, 0) -> ok;
choose(Smokers, Seed, Left) ->
    Next = bench:random(Seed),
    element(Next rem ?SMOKERS + 1, Smokers) ! {smoke, Next rem 16},
    receive smoking -> ok end,
    choose(Smokers, Next, Left - 1).

smoker(Arbiter, Seed, Nr) ->
    receive
	{smoke, Long} ->
	    Arbiter ! smoking,
	    smoker(Arbiter, puff(Seed, Long), Nr + 1);
	stop -> Arbiter ! {smoked, Nr}
    end.

puff(Seed, 0) -> Seed;
puff(Seed, Left) -> puff(bench:random(Seed), Left - 1).

%% ---- dictionary -----------------------------------------------------------------

dictionary() ->
    bench:run(fun dictionary/1, ?DICTIONARY_ASKS, ?DICTIONARY_WORKERS).

dictionary(Asks) ->
    Me = self(),
    Dictionary = spawn_link(fun() -> look_up(#{}, 0, 0) end),
    [spawn_link(fun() -> asker(Me, Dictionary, I, Asks) end)
     || I <- lists:seq(1, ?DICTIONARY_WORKERS)],
    Writes = lists:sum([receive {writes, Nr} -> Nr end
			|| _ <- lists:seq(1, ?DICTIONARY_WORKERS)]),
    Answer = call(Dictionary, stop),
    bench:check(Answer =:= {Writes, Asks * ?DICTIONARY_WORKERS - Writes}, asks).

look_up(Map, Writes, Reads) ->
    receive
	{call, From, Ref, {write, Key, Value}} ->
	    From ! {Ref, Value},
	    look_up(Map#{Key => Value}, Writes + 1, Reads);
	{call, From, Ref, {read, Key}} ->
	    From ! {Ref, maps:get(Key, Map, 0)},
	    look_up(Map, Writes, Reads + 1);
	{call, From, Ref, stop} ->
	    From ! {Ref, {Writes, Reads}}
    end.

asker(Root, Dictionary, Seed, Asks) ->
    Root ! {writes, ask(Dictionary, Seed, Asks, 0)}.

ask(_, _, 0, Writes) -> Writes;
ask(Dictionary, Seed, Left, Writes) ->
    Next = bench:random(Seed),
    Key = Next rem ?DICTIONARY_KEYS,
    case Next rem 10 of
	0 ->
	    Value = call(Dictionary, {write, Key, Key + 1}),
	    bench:check(Value =:= Key + 1, value),
	    ask(Dictionary, Next, Left - 1, Writes + 1);
	_ ->
	    Value = call(Dictionary, {read, Key}),
	    bench:check(Value =:= Key + 1 orelse Value =:= 0, value),
	    ask(Dictionary, Next, Left - 1, Writes)
    end.

%% ---- radix ----------------------------------------------------------------------

radix() -> bench:run(fun radix/1, ?RADIX_NUMBERS, ?RADIX_BITS).

%% The calling process is the end of the pipeline.
radix(Nr) ->
    Me = self(),
    First = lists:foldr(fun(Bit, Next) ->
				spawn_link(fun() ->
						   by_bit(Next, 1 bsl Bit, Nr, [])
					   end)
			end, Me, lists:seq(0, ?RADIX_BITS - 1)),
    Sum = draw(First, 1, Nr, 0),
    bench:check(sorted(Nr, 0, 0) =:= Sum, sum).

draw(_, _, 0, Sum) -> Sum;
draw(First, Seed, Left, Sum) ->
    Next = bench:random(Seed),
    Value = Next rem (1 bsl ?RADIX_BITS),
    First ! Value,
    draw(First, Next, Left - 1, Sum + Value).

by_bit(Next, _, 0, Kept) -> pass(Next, lists:reverse(Kept));
by_bit(Next, Bit, Left, Kept) ->
    receive
	Value when Value band Bit =:= 0 ->
	    Next ! Value,
	    by_bit(Next, Bit, Left - 1, Kept);
	Value -> by_bit(Next, Bit, Left - 1, [Value | Kept])
    end.

pass(_, []) -> ok;
pass(Next, [Value | Others]) -> Next ! Value, pass(Next, Others).

sorted(0, _, Sum) -> Sum;
sorted(Left, Last, Sum) ->
    receive
	Value ->
	    bench:check(Value >= Last, order),
	    sorted(Left - 1, Value, Sum + Value)
    end.

%% ---- logmap ---------------------------------------------------------------------

logmap() -> bench:run(fun logmap/1, ?LOGMAP_TERMS, ?LOGMAP_SERIES).

logmap(Terms) ->
    All = [begin
	       Rate = 3.5 + I * 0.025,
	       Computer = spawn_link(fun() -> computer(Rate) end),
	       spawn_opt(fun() -> series(Computer, I * 0.05) end,
			 ?LONG_QUEUE)
	   end || I <- lists:seq(1, ?LOGMAP_SERIES)],
    next(All, Terms),
    Sum = lists:foldl(fun(Pid, Sum) -> Sum + call(Pid, get) end, 0.0, All),
    Right = lists:foldl(fun(I, Before) ->
				Before + term(3.5 + I * 0.025, I * 0.05, Terms)
			end, 0.0, lists:seq(1, ?LOGMAP_SERIES)),
    bench:check(Sum =:= Right, sum).

next(_, 0) -> ok;
next(All, Left) ->
    lists:foreach(fun(Pid) -> Pid ! next end, All),
    next(All, Left - 1).

term(_, Term, 0) -> Term;
term(Rate, Term, Left) -> term(Rate, Rate * Term * (1 - Term), Left - 1).

series(Computer, Term) ->
    receive
	next -> series(Computer, call(Computer, Term));
	{call, From, Ref, get} ->
	    Computer ! stop,
	    From ! {Ref, Term}
    end.

computer(Rate) ->
    receive
	{call, From, Ref, Term} ->
	    From ! {Ref, Rate * Term * (1 - Term)},
	    computer(Rate);
	stop -> ok
    end.
