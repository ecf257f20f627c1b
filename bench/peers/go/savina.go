// SPDX-License-Identifier: MIT

// Eight programs of the Savina suite, from their descriptions.  A request
// carries the channel of its reply.
package main

const (
	philosophersNr    = 20
	philosophersMeals = 10000
	bankAccounts      = 1000
	bankTransfers     = 100000
	bankStart         = 1000000
	sieveNumbers      = 100000
	sievePrimes       = 100
	bufferEnds        = 40
	bufferSlots       = 50
	bufferItems       = 5000
	smokersNr         = 200
	smokersRounds     = 500000
	dictionaryWorkers = 20
	dictionaryAsks    = 20000
	dictionaryKeys    = 4096
	radixBits         = 20
	radixNumbers      = 50000
	logmapSeries      = 10
	logmapTerms       = 25000
)

// ---- philosophers ------------------------------------------------------------------

const (
	hungry = iota
	done
	full
)

type wish struct {
	kind, who int
	reply     chan bool
}

func philosopher(arbitrator chan wish, who, meals int) {
	reply := make(chan bool, 1)
	for meals > 0 {
		arbitrator <- wish{hungry, who, reply}
		if <-reply {
			arbitrator <- wish{kind: done, who: who}
			meals--
		}
	}
	arbitrator <- wish{kind: full}
}

func dinner(meals int) {
	var taken [philosophersNr]bool
	arbitrator := make(chan wish, 2*philosophersNr)
	for i := 0; i < philosophersNr; i++ {
		go philosopher(arbitrator, i, meals)
	}
	eaten, guests := 0, philosophersNr
	for guests > 0 {
		w := <-arbitrator
		left, right := w.who, (w.who+1)%philosophersNr
		switch w.kind {
		case hungry:
			may := !taken[left] && !taken[right]
			if may {
				taken[left], taken[right] = true, true
			}
			w.reply <- may
		case done:
			taken[left], taken[right] = false, false
			eaten++
		case full:
			guests--
		}
	}
	check(eaten == meals*philosophersNr, "meals")
}

// ---- bank --------------------------------------------------------------------------

const (
	move = iota
	credit
	closing
)

type order struct {
	kind, amount int
	to           chan order
	reply        chan int
}

func account(mine chan order) {
	balance, reply := bankStart, make(chan int, 1)
	for o := range mine {
		switch o.kind {
		case move:
			o.to <- order{credit, o.amount, nil, reply}
			<-reply
			balance -= o.amount
			o.reply <- 0
		case credit:
			balance += o.amount
			o.reply <- 0
		case closing:
			o.reply <- balance
			return
		}
	}
}

// From one account to one of a higher number: nobody waits in a circle.
func bankOnce(transfers int) {
	var accounts [bankAccounts]chan order
	moved := make(chan int, transfers)
	for i := range accounts {
		accounts[i] = make(chan order, mailboxCapacity)
		go account(accounts[i])
	}
	seed, sum := 1, 0
	for i := 0; i < transfers; i++ {
		a := minstd(seed)
		seed = minstd(a)
		from := a % (bankAccounts - 1)
		to := from + 1 + seed%(bankAccounts-1-from)
		accounts[from] <- order{move, 1 + seed%100, accounts[to], moved}
	}
	for i := 0; i < transfers; i++ {
		<-moved
	}
	for _, a := range accounts {
		a <- order{kind: closing, reply: moved}
		sum += <-moved
	}
	check(sum == bankAccounts*bankStart, "balance")
}

// ---- sieve -------------------------------------------------------------------------

// How many primes are below n: to check with.
func primesBelow(n int) int {
	nr, composite := 0, make([]bool, n+1)
	for i := 2; i < n; i++ {
		if composite[i] {
			continue
		}
		nr++
		for j := i * i; j < n; j += i {
			composite[j] = true
		}
	}
	return nr
}

// Keeps the first primes that come, and passes on what they do not divide.
func filter(mine chan int, first int, done chan int) {
	var next chan int
	primes := append(make([]int, 0, sievePrimes), first)
numbers:
	for i := range mine {
		if i <= 0 {
			nr := i - len(primes)
			if next != nil {
				next <- nr
			} else {
				done <- -nr
			}
			return
		}
		for _, p := range primes {
			if i%p == 0 {
				continue numbers
			}
		}
		if len(primes) < sievePrimes {
			primes = append(primes, i)
		} else if next == nil {
			next = make(chan int, mailboxCapacity)
			go filter(next, i, done)
		} else {
			next <- i
		}
	}
}

func sieveOnce(n int) {
	first, done := make(chan int, mailboxCapacity), make(chan int)
	go filter(first, 2, done)
	for i := 3; i < n; i += 2 {
		first <- i
	}
	first <- 0
	right := primesBelow(n)
	if right == 0 {
		right = 1
	}
	check(<-done == right, "primes")
}

// ---- buffer ------------------------------------------------------------------------

type delivery struct {
	item     int
	producer chan bool
	consumer chan int // not nil: it is ready for an item
}

func producer(buffer chan delivery, mine chan bool, seed, items int) {
	for ; items > 0; items-- {
		<-mine
		seed = minstd(seed)
		buffer <- delivery{item: seed, producer: mine}
	}
}

func consumer(buffer chan delivery, sums chan int) {
	mine, sum := make(chan int, 1), 0
	for {
		buffer <- delivery{consumer: mine}
		item := <-mine
		if item == 0 {
			sums <- sum
			return
		}
		sum += item
	}
}

func store(buffer chan delivery, nr int) []chan int {
	var items []int
	var waiting []chan bool
	var ready []chan int
	for nr > 0 {
		d := <-buffer
		if d.consumer != nil {
			if len(items) == 0 {
				ready = append(ready, d.consumer)
				continue
			}
			d.consumer <- items[0]
			items = items[1:]
			nr--
			if last := len(waiting) - 1; last >= 0 {
				waiting[last] <- true
				waiting = waiting[:last]
			}
			continue
		}
		if last := len(ready) - 1; last >= 0 {
			ready[last] <- d.item
			ready = ready[:last]
			nr--
			d.producer <- true
			continue
		}
		items = append(items, d.item)
		if len(items) < bufferSlots-bufferEnds {
			d.producer <- true
		} else {
			waiting = append(waiting, d.producer)
		}
	}
	return ready
}

func bufferOnce(each int) {
	var producers [bufferEnds]chan bool
	buffer := make(chan delivery, 2*bufferEnds)
	sums, sum, right := make(chan int, bufferEnds), 0, 0
	for i := range producers {
		producers[i] = make(chan bool, 1)
		go producer(buffer, producers[i], i+1, each)
		go consumer(buffer, sums)
		producers[i] <- true
	}
	ready := store(buffer, bufferEnds*each)
	for _, c := range ready {
		c <- 0
	}
	for i := len(ready); i < bufferEnds; i++ {
		(<-buffer).consumer <- 0
	}
	for i := range producers {
		sum += <-sums
		for seed, j := i+1, 0; j < each; j++ {
			seed = minstd(seed)
			right += seed
		}
	}
	check(sum == right, "items")
}

// ---- smokers -----------------------------------------------------------------------

func smoker(mine chan int, arbiter chan int, seed int) {
	nr := 0
	for long := range mine {
		arbiter <- 0
		for ; long > 0; long-- {
			seed = minstd(seed)
		}
		nr++
	}
	arbiter <- nr
}

func smoke(rounds int) {
	var smokers [smokersNr]chan int
	arbiter := make(chan int, smokersNr)
	for i := range smokers {
		smokers[i] = make(chan int, mailboxCapacity)
		go smoker(smokers[i], arbiter, i+1)
	}
	seed, sum := 1, 0
	for i := 0; i < rounds; i++ {
		seed = minstd(seed)
		smokers[seed%smokersNr] <- seed % 16
		<-arbiter
	}
	for _, s := range smokers {
		close(s)
	}
	for range smokers {
		sum += <-arbiter
	}
	check(sum == rounds, "rounds")
}

// ---- dictionary --------------------------------------------------------------------

type question struct {
	key, value int // no value: read
	reply      chan int
}

func asker(dictionary chan question, seed, asks int, writes chan int) {
	reply, nr := make(chan int, 1), 0
	for i := 0; i < asks; i++ {
		seed = minstd(seed)
		q := question{seed % dictionaryKeys, 0, reply}
		if seed%10 == 0 {
			q.value = q.key + 1
			nr++
		}
		dictionary <- q
		value := <-reply
		check(value == q.key+1 || value == 0 && q.value == 0, "value")
	}
	writes <- nr
}

func dictionaryOnce(asks int) {
	dictionary := make(chan question, dictionaryWorkers)
	writes := make(chan int, dictionaryWorkers)
	total := make(chan int)
	go func() {
		words, nr := make(map[int]int), 0
		for q := range dictionary {
			if q.value != 0 {
				words[q.key] = q.value
				nr++
			}
			q.reply <- words[q.key]
		}
		total <- nr
	}()
	for i := 1; i <= dictionaryWorkers; i++ {
		go asker(dictionary, i, asks, writes)
	}
	sum := 0
	for i := 0; i < dictionaryWorkers; i++ {
		sum += <-writes
	}
	close(dictionary)
	check(<-total == sum, "writes")
}

// ---- radix -------------------------------------------------------------------------

func byBit(mine, next chan int, bit, nr int) {
	var kept []int
	for i := 0; i < nr; i++ {
		value := <-mine
		if value&bit == 0 {
			next <- value
		} else {
			kept = append(kept, value)
		}
	}
	for _, value := range kept {
		next <- value
	}
}

func radixOnce(nr int) {
	first := make(chan int, mailboxCapacity)
	end := first
	for bit := 0; bit < radixBits; bit++ {
		next := make(chan int, mailboxCapacity)
		go byBit(end, next, 1<<bit, nr)
		end = next
	}
	sent := make(chan int, 1)
	go func() {
		seed, sum := 1, 0
		for i := 0; i < nr; i++ {
			seed = minstd(seed)
			first <- seed % (1 << radixBits)
			sum += seed % (1 << radixBits)
		}
		sent <- sum
	}()
	last, sum := 0, 0
	for i := 0; i < nr; i++ {
		value := <-end
		check(value >= last, "order")
		last = value
		sum += value
	}
	check(<-sent == sum, "sum")
}

// ---- logmap ------------------------------------------------------------------------

type term struct {
	value float64
	reply chan float64
}

func computer(rate float64, mine chan term) {
	for t := range mine {
		t.reply <- rate * t.value * (1 - t.value)
	}
}

// A message without a reply asks for the next term, one with it for this one.
func series(mine chan term, rate, value float64) {
	terms, reply := make(chan term, 1), make(chan float64, 1)
	go computer(rate, terms)
	for t := range mine {
		if t.reply != nil {
			t.reply <- value
			break
		}
		terms <- term{value, reply}
		value = <-reply
	}
	close(terms)
}

func logmapOnce(terms int) {
	var all [logmapSeries]chan term
	reply := make(chan float64)
	for i := range all {
		all[i] = make(chan term, mailboxCapacity)
		go series(all[i], 3.5+float64(i+1)*0.025, float64(i+1)*0.05)
	}
	for n := 0; n < terms; n++ {
		for _, s := range all {
			s <- term{}
		}
	}
	sum, right := 0.0, 0.0
	for i, s := range all {
		s <- term{reply: reply}
		sum += <-reply
		rate, value := 3.5+float64(i+1)*0.025, float64(i+1)*0.05
		for n := 0; n < terms; n++ {
			value = rate * value * (1 - value)
		}
		right += value
	}
	check(sum == right, "sum")
}

func init() {
	rows["philosophers"] = func() {
		actorRow(dinner, philosophersMeals, philosophersNr)
	}
	rows["bank"] = func() { actorRow(bankOnce, bankTransfers, 1) }
	rows["sieve"] = func() { actorRow(sieveOnce, sieveNumbers, 1) }
	rows["buffer"] = func() { actorRow(bufferOnce, bufferItems, bufferEnds) }
	rows["smokers"] = func() { actorRow(smoke, smokersRounds, 1) }
	rows["dictionary"] = func() {
		actorRow(dictionaryOnce, dictionaryAsks, dictionaryWorkers)
	}
	rows["radix"] = func() { actorRow(radixOnce, radixNumbers, radixBits) }
	rows["logmap"] = func() {
		actorRow(logmapOnce, logmapTerms, logmapSeries)
	}
}
